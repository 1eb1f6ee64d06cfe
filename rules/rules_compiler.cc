// Runs while guard is built: reads rules/*.toml, fails on any fault, and writes the rules and databases that the binary
// carries (shipped_data.h).
//
//   rules_compiler RULES_FOLDER OUT_FOLDER
//
// writes OUT_FOLDER/{rules,examples}.bin and OUT_FOLDER/{raw,code,strings,commands,uses}.hsdb.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "common/file_io.h"
#include "rules/matching/hyperscan_scanner.h"
#include "rules/matching/matcher.h"
#include "rules/rule_codec.h"
#include "rules/rule_loader.h"
#include "rules/shipped_data.h"

namespace guard {

// This program makes the shipped rules and has none itself.
const ShippedRules& shipped_rules_data() noexcept {
  static constexpr ShippedRules kNone{};
  return kNone;
}

namespace {

Result<void> compile(const std::filesystem::path& rules_folder, const std::filesystem::path& out_folder) {
  GUARD_TRY_ASSIGN(const RuleSet rules, load_rules(rules_folder));
  RuleWriter lists;
  RuleWriter examples;
  // Where a rule stands is told from the root of the project, not of the machine that built it.
  const auto place = [root = rules_folder.string()](auto owner) {
    if (owner.file.starts_with(root)) owner.file = "rules" + std::string(owner.file.substr(root.size()));
    return owner;
  };
  lists.text(rules.digest());
  lists.text(HyperscanScanner::library_version());
  lists.list(rules.facts(), [&](const Fact& fact) {
    const Fact placed = place(fact);
    code_common(lists, placed);
    code_examples(examples, fact);
  });
  // The gate stops reading at the first secret: they are most of the rules.
  const auto is_secret = [](const Rule& rule) { return rule.tier == Tier::secret; };
  if (!std::ranges::is_partitioned(rules.rules(), std::not_fn(is_secret)))
    return Error(ErrorCode::rules_invalid, "a rule of another tier stands behind one of the tier secret");
  lists.list(rules.rules(), [&](const Rule& rule) {
    std::vector<std::string> hints;
    for (const auto& [key, value] : rule.redact) hints.insert(hints.end(), {key, value});
    const Rule placed = place(rule);
    code_rule(lists, placed, hints);
    code_examples(examples, rule);
  });
  GUARD_TRY(write_file_atomically(out_folder / "rules.bin", lists.bytes()));
  GUARD_TRY(write_file_atomically(out_folder / "examples.bin", examples.bytes()));
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
