// The table of verbs: usage, purpose, actions, options, examples, and what runs. Parsing, help, manual page and
// completions come from it, so they cannot drift apart.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/commands/commands.h"
#include "cli/options/option_parser.h"
#include "cli/options/options.h"

namespace guard {

inline constexpr std::size_t kAnyNumber = SIZE_MAX;

// What a verb, or one of its actions, takes as arguments.
struct ActionRow {
  Action action = Action::none;  // none: the verb is called without one; comes first
  std::string_view takes = {};   // the rest of its line in the usage
  std::size_t arguments_max = 0;
  std::string_view missing = {};  // the mistake, where there must be an argument
  std::string_view example = {};  // what to do then
  bool is_command = false;        // the arguments are a program's
  bool hidden = false;            // not for people
};

struct VerbRow {
  std::string_view name;
  std::string_view summary;     // one line of `guard help`
  std::string_view usage = {};  // lines without the leading "guard "; empty: what the actions say
  std::string_view about;       // a short paragraph
  std::span<const ActionRow> actions;
  std::span<const OptionRow> options;
  std::string_view examples;
  std::string_view exit_status;
  Command run;
  // What no table can say of options and arguments together.
  Result<void> (*check)(const SplitArguments& given, Options& options) = nullptr;
  Placement placement = Placement::anywhere;
};

std::span<const VerbRow> verbs();
const VerbRow* find_verb(std::string_view name);
std::string usage_of(const VerbRow& row);

// An error of usage.
Error mistake(std::string sentence, std::string hint);

std::string help_text(const VerbRow& row);
std::string help_text();        // of guard itself
std::string short_help_text();  // when guard is called without a verb

}  // namespace guard
