// TOML rule files -> RuleSet. Loading fails as a whole and lists every fault of every file, each as
// "file:line:column: sentence".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "rules/rule_set.h"

namespace guard {

// All *.toml below `folder`, in name order, recursively. RULES_INVALID, FILE_NOT_FOUND, IO_ERROR.
Result<RuleSet> load_rules(const std::filesystem::path& folder);

// One file's text, for editors, tests and fuzzers. `name` is what messages call it.
Result<RuleSet> parse_rules(std::string_view text, std::string_view name);

}  // namespace guard
