// Foreign bytes through the whole validator: an answer, every place inside of the file and where its line and column
// say, both engines of one mind, and the rules on raw text never silenced by a view.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "rules/matching/matcher.h"
#include "rules/rule_set.h"
#include "validator/validator.h"

namespace {

constexpr std::size_t kBothEnginesBelow = 600;  // RE2 alone is slow, one pass per pattern: a quarter of the short texts

void require(bool holds) {
  if (!holds) std::abort();
}

const guard::Matcher& matcher(guard::Engine engine) {
  static const guard::Matcher both =
      guard::Matcher::create(guard::RuleSet::shipped(), guard::Engine::hyperscan_and_re2).value();
  static const guard::Matcher re2 = guard::Matcher::create(guard::RuleSet::shipped(), guard::Engine::re2_only).value();
  return engine == guard::Engine::re2_only ? re2 : both;
}

guard::Report check(const std::string& text, const char* path, guard::Engine engine) {
  const guard::Validator validator(guard::RuleSet::shipped(), matcher(engine), {});
  auto report = validator.check({{path, text}});
  require(report.has_value());
  return std::move(*report);
}

void check_places(const std::string& text, const guard::Report& report) {
  for (const guard::Finding& finding : report.findings) {
    require(finding.begin <= finding.end && finding.end <= text.size());
    if (finding.line == 0) continue;
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(finding.begin);
    require(finding.line >= 1 && finding.column >= 1 && finding.column <= finding.begin + 1);
    // No line end of the usual kind between the beginning of the line and the place.
    require(std::find(begin - static_cast<std::ptrdiff_t>(finding.column - 1), begin, '\n') == begin);
    require(static_cast<std::size_t>(finding.caret) + finding.caret_width <= finding.excerpt.size() + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* path : {"sandbox/a.test.ts", "sandbox/a.test.tsx"}) {
    const guard::Report report = check(text, path, guard::Engine::hyperscan_and_re2);
    check_places(text, report);
    if (size < kBothEnginesBelow && size % 4 == 0) {
      const guard::Report other = check(text, path, guard::Engine::re2_only);
      require(std::equal(report.findings.begin(), report.findings.end(), other.findings.begin(), other.findings.end(),
          [](const guard::Finding& a, const guard::Finding& b) {
            return a.rule == b.rule && a.begin == b.begin && a.end == b.end;
          }));
    }
    guard::Matcher::Scratch scratch;
    std::vector<guard::Match> raw;
    require(matcher(guard::Engine::hyperscan_and_re2).scan(guard::View::raw, text, scratch, raw).has_value());
    for (const guard::Match& match : raw) {
      const guard::Rule& rule = guard::RuleSet::shipped().rules()[match.is_fact ? 0 : match.index];
      if (match.is_fact || rule.tier != guard::Tier::banned) continue;
      require(std::any_of(report.findings.begin(), report.findings.end(),
          [&](const guard::Finding& finding) { return finding.rule == rule.id; }));
    }
  }
  return 0;
}
