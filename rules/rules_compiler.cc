// Runs while guard is built: reads rules/*.toml, fails on any fault, and writes the tables and databases that the
// binary carries (shipped_data.h).
//
//   rules_compiler RULES_FOLDER OUT_FOLDER
//
// writes OUT_FOLDER/shipped_rules_tables.inc and OUT_FOLDER/{raw,code,strings,commands,uses}.hsdb.

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "common/file_io.h"
#include "common/text/cpp_literal.h"
#include "rules/matching/hyperscan_scanner.h"
#include "rules/matching/matcher.h"
#include "rules/rule_loader.h"
#include "rules/shipped_data.h"

namespace guard {

// This program makes the shipped rules and has none itself.
const ShippedRules& shipped_rules_data() noexcept {
  static constexpr ShippedRules kNone{};
  return kNone;
}

namespace {

class TableWriter {
 public:
  explicit TableWriter(std::string_view root) : root_(root) {}

  void add(const Rule& rule) {
    std::vector<std::string> hints;
    for (const auto& [key, value] : rule.redact) {
      hints.push_back(key);
      hints.push_back(value);
    }
    row(false, rule,
        fmt::format("Tier({}), Severity({})", static_cast<int>(rule.tier), static_cast<int>(rule.severity)),
        fmt::format("{}, {}, {}", cpp_literal(rule.why), cpp_literal(rule.fix), cpp_literal(rule.kind)),
        fmt::format("{}, {}, {}, {}, {}", texts(rule.needs), texts(rule.all_of), texts(rule.paths), texts(hints),
            texts(rule.references)));
  }

  void add(const Fact& fact) {
    row(true, fact, "Tier(0), Severity(0)", "\"\"sv, \"\"sv, \"\"sv", "{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}");
  }

  // No array may be empty, so each ends with an entry that no range reaches.
  std::string finish(std::string_view digest) const {
    return fmt::format(
        "constexpr std::string_view kTexts[] = {{\n{}\"\"sv}};\n"
        "constexpr ShippedPattern kPatterns[] = {{\n{}{{}}}};\n"
        "constexpr ShippedRule kRules[] = {{\n{}{{}}}};\n"
        "constexpr std::size_t kTextCount = {};\nconstexpr std::size_t kPatternCount = {};\n"
        "constexpr std::size_t kRuleCount = {};\n"
        "constexpr std::string_view kDigest = {};\nconstexpr std::string_view kLibraryVersion = {};\n",
        text_rows_, pattern_rows_, rule_rows_, texts_, patterns_, rules_, cpp_literal(digest),
        cpp_literal(HyperscanScanner::library_version()));
  }

 private:
  std::string texts(const std::vector<std::string>& list) {
    const std::size_t first = texts_;
    for (const std::string& text : list) text_rows_ += cpp_literal(text) + ",\n";
    texts_ += list.size();
    return fmt::format("{{{}, {}}}", first, list.size());
  }

  std::string examples(const std::vector<Example>& list) {
    std::vector<std::string> flat;
    for (const Example& example : list) {
      flat.push_back(example.text);
      flat.push_back(example.path);
    }
    return texts(flat);
  }

  std::string patterns(const std::vector<Pattern>& list) {
    const std::size_t first = patterns_;
    for (const Pattern& pattern : list) {
      unsigned views = 0;
      for (const View view : pattern.views) views |= 1u << static_cast<unsigned>(view);
      pattern_rows_ +=
          fmt::format("{{{}, {}, {}, {}u}},\n", cpp_literal(pattern.regex), views, pattern.capture, pattern.bytes_max);
    }
    patterns_ += list.size();
    return fmt::format("{{{}, {}}}", first, list.size());
  }

  // Where a rule stands is told from the root of the project, not of the machine that built it.
  std::string place(const std::string& file) const {
    return file.compare(0, root_.size(), root_) == 0 ? "rules" + file.substr(root_.size()) : file;
  }

  template <typename Owner>
  void row(
      bool fact, const Owner& owner, const std::string& tier, const std::string& words, const std::string& ranges) {
    rule_rows_ += fmt::format("{{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}},\n", fact, cpp_literal(owner.id),
        tier, cpp_literal(owner.title), words, patterns(owner.patterns), ranges, examples(owner.match),
        examples(owner.no_match), cpp_literal(place(owner.file)), owner.line, owner.column);
    ++rules_;
  }

  std::string root_;
  std::string text_rows_;
  std::string pattern_rows_;
  std::string rule_rows_;
  std::size_t texts_ = 0;
  std::size_t patterns_ = 0;
  std::size_t rules_ = 0;
};

Result<void> compile(const std::filesystem::path& rules_folder, const std::filesystem::path& out_folder) {
  GUARD_TRY_ASSIGN(const RuleSet rules, load_rules(rules_folder));
  TableWriter writer(rules_folder.string());
  for (const Rule& rule : rules.rules()) writer.add(rule);
  for (const Fact& fact : rules.facts()) writer.add(fact);
  GUARD_TRY(write_file_atomically(out_folder / "shipped_rules_tables.inc", writer.finish(rules.digest())));
  for (const View view : kAllViews) {
    GUARD_TRY_ASSIGN(const std::string image, Matcher::database_image(rules, view));
    GUARD_TRY(write_file_atomically(out_folder / fmt::format("{}.hsdb", to_string(view)), image));
  }
  return ok();
}

}  // namespace
}  // namespace guard

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: rules_compiler RULES_FOLDER OUT_FOLDER\n", stderr);
    return 64;
  }
  const guard::Result<void> done = guard::compile(argv[1], argv[2]);
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().to_string());
  return 1;
}
