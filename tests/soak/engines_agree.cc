// engines_agree FOLDER...: checks every file below the folders twice, with Hyperscan and with RE2 alone, and compares
// the findings. Fails if they differ anywhere, if a file can't be decided, or if there is none.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "rules/matching/matcher.h"
#include "rules/rule_set.h"
#include "validator/validator.h"

namespace {

using guard::Engine;
using guard::Finding;

constexpr std::size_t kDifferencesShown = 20;

bool is_code(const std::filesystem::path& path) {
  static constexpr std::array<std::string_view, 10> kEndings = {
      ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".json", ".sh", ".md"};
  return std::find(kEndings.begin(), kEndings.end(), path.extension().string()) != kEndings.end();
}

bool same(const Finding& a, const Finding& b) {
  return a.rule == b.rule && a.begin == b.begin && a.end == b.end && a.line == b.line && a.column == b.column;
}

class Comparison {
 public:
  explicit Comparison(const guard::RuleSet& rules)
      : rules_(rules),
        both_(guard::Matcher::create(rules, Engine::hyperscan_and_re2).value()),
        re2_(guard::Matcher::create(rules, Engine::re2_only).value()) {}

  void compare(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<guard::SourceFile> files = {{path.string(), {std::istreambuf_iterator<char>(in), {}}}};
    const auto by_both = guard::Validator(rules_, both_, {}).check(files);
    const auto by_re2 = guard::Validator(rules_, re2_, {}).check(files);
    ++files_;
    bytes_ += files[0].bytes.size();
    if (!by_both || !by_re2) {
      differ(fmt::format("{}: {}", path.string(), (by_both ? by_re2 : by_both).error().to_string()));
      return;
    }
    findings_ += by_both->findings.size();
    const auto [one, other] = std::mismatch(
        by_both->findings.begin(), by_both->findings.end(), by_re2->findings.begin(), by_re2->findings.end(), same);
    if (one != by_both->findings.end()) differ(place("both engines", *one));
    if (other != by_re2->findings.end()) differ(place("RE2 alone", *other));
  }

  int result() const {
    fmt::print("{} files, {} bytes, {} findings, {} differences\n", files_, bytes_, findings_, differences_);
    return files_ > 0 && differences_ == 0 ? 0 : 1;
  }

 private:
  static std::string place(std::string_view who, const Finding& finding) {
    return fmt::format("{}:{}:{}: {} ({}-{}) by {} and not by the other", finding.path, finding.line, finding.column,
        finding.rule, finding.begin, finding.end, who);
  }

  void differ(const std::string& text) {
    if (++differences_ <= kDifferencesShown) fmt::print(stderr, "{}\n", text);
  }

  const guard::RuleSet& rules_;
  guard::Matcher both_;
  guard::Matcher re2_;
  std::size_t files_ = 0;
  std::size_t bytes_ = 0;
  std::size_t findings_ = 0;
  std::size_t differences_ = 0;
};

}  // namespace

int main(int count, char** names) {
  Comparison comparison(guard::RuleSet::shipped());
  for (int i = 1; i < count; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(names[i])) {
      if (entry.is_regular_file() && !entry.is_symlink() && is_code(entry.path())) comparison.compare(entry.path());
    }
  }
  return comparison.result();
}
