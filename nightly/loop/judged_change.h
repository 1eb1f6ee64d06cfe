// A generator's change beside the tree that it will be committed to: whether it fits, which tests have to run, what it
// must not take away. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nightly/plan/plan.h"
#include "pipeline/change/git_objects.h"
#include "redact/kinds/secret_source.h"
#include "validator/change/change_set.h"

namespace guard::nightly {

inline constexpr std::string_view kTestsWeakened = "tests_weakened";

// A text with its secrets masked, and how many of each kind there were; none where it cannot be searched.
struct MaskedText {
  std::string text;
  std::map<std::string, std::uint64_t> secrets;
};
std::optional<MaskedText> mask_text(const SecretSource& secrets, std::string_view text);

// Whether the files that the change touches stand at the tip as they stood where the clone began.
bool fits_on(const TreeEntries& start, const TreeEntries& tip, const ChangeSet& change);

// What a person reads of a change that was never committed: what it adds, without what stood around it.
std::string added_text(const ChangeSet& change, std::size_t bytes_max);

// A value that guard knows to be secret, in a file that would be committed. The shapes of secrets are the rules'
// business. For a task of kind test: test files that are removed, and tests of security patterns, which are written by
// hand: they name two ways out of a sandbox or more (rules/word_lists.toml), as data that no rule refuses.
std::vector<Finding> findings_of_night(const ChangeSet& change, TaskKind kind, const SecretSource& secrets);

struct ChosenTests {
  std::vector<std::string> run;    // relative to the project
  std::vector<std::string> fresh;  // those of them that the change brings or changes
  std::vector<std::string> old;    // the project's others
  std::vector<std::string>
      before;  // all that the project had, where the change touches what was in sandbox/; else none
  // Why nothing can be run: a reason and a sentence.
  std::string refusal;
  std::string detail;
};
ChosenTests choose_tests(const PlannedTask& task, const TreeEntries& tip, const ChangeSet& change);

}  // namespace guard::nightly
