#include "cli/options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/options/option_parser.h"
#include "cli/options/verbs.h"
#include "common/text/text.h"
#include "pipeline/config/config_texts.h"

namespace guard {
namespace {

constexpr int kUsageStatus = 64;

// The action of `guard image build` and its like is taken out of the arguments.
Result<const ActionRow*> take_action(const VerbRow& verb, std::vector<std::string>& arguments) {
  // Such a row alone has arguments of its own; beside others it is for a verb without an action.
  const bool is_optional = verb.actions.front().action == Action::none;
  if (is_optional && (verb.actions.size() == 1 || arguments.empty())) return &verb.actions.front();
  std::vector<std::string_view> names;
  for (const auto& row : verb.actions.subspan(is_optional ? 1 : 0)) {
    if (!row.hidden) names.push_back(to_string(row.action));
  }
  const std::string hint =
      fmt::format("guard {} {}", verb.name, fmt::join(names, fmt::format(", guard {} ", verb.name)));
  if (arguments.empty()) return mistake(fmt::format("guard {} needs to know what to do", verb.name), hint);
  const std::string word = std::move(arguments.front());
  arguments.erase(arguments.begin());
  for (const auto& row : verb.actions.subspan(is_optional ? 1 : 0)) {
    if (to_string(row.action) == word) return &row;
  }
  const auto near = nearest_word(word, names);
  return mistake(fmt::format("guard {} has no \"{}\"", verb.name, shown_value(word)),
      near.empty() ? hint : fmt::format("did you mean `guard {} {}`?", verb.name, near));
}

Result<void> check_arguments(const VerbRow& verb, const ActionRow& action, const std::vector<std::string>& arguments) {
  if (arguments.empty() && !action.missing.empty())
    return mistake(std::string(action.missing), std::string(action.example));
  if (arguments.size() > action.arguments_max)
    return mistake(
        fmt::format("guard {} takes no argument \"{}\"", verb.name, shown_value(arguments[action.arguments_max])),
        fmt::format("see `guard help {}`", verb.name));
  // An empty name is a variable that was not set in somebody's script. Arguments of a command may be empty.
  const auto last = action.is_command && !arguments.empty() ? arguments.begin() + 1 : arguments.end();
  if (std::find(arguments.begin(), last, "") != last)
    return mistake(action.is_command ? "the command is empty" : "an argument is empty",
        "look for a variable that is not set in the command");
  return ok();
}

bool has_word(std::string_view words, std::string_view word) {
  const auto pieces = pieces_of(words, ' ');
  return std::find(pieces.begin(), pieces.end(), word) != pieces.end();
}

// Whether the options that were given go with the action and with each other.
Result<void> check_options(const VerbRow& verb, Action action, const SplitArguments& split) {
  for (const auto& row : verb.options) {
    if (!split.has(row.name)) continue;
    if (!row.only.empty() && !has_word(row.only, to_string(action))) {
      return mistake(
          fmt::format("{} belongs to `guard {} {}`", row.name, verb.name, row.only.substr(0, row.only.find(' '))),
          "leave it out");
    }
    for (const auto& other : verb.options) {
      if (split.has(other.name) && has_word(row.excludes, other.name))
        return mistake(fmt::format("{} and {} exclude each other", row.name, other.name), "choose one of them");
    }
  }
  return ok();
}

// `values`: one for each time that the option was given.
Result<void> read_option(const OptionRow& row, const std::vector<std::string>& values, Options& options) {
  if (const auto* flag = std::get_if<bool Options::*>(&row.into)) options.*(*flag) = true;
  if (const auto* text = std::get_if<std::string Options::*>(&row.into)) options.*(*text) = values.back();
  if (const auto* list = std::get_if<std::vector<std::string> Options::*>(&row.into)) options.*(*list) = values;
  for (const auto& value : values) {
    if (!row.key.empty()) options.overrides.push_back({std::string(row.key), value, std::string(row.name)});
    if (const auto* read = std::get_if<OptionReader>(&row.into)) GUARD_TRY((*read)(value, options));
  }
  return ok();
}

Result<Options> parse_verb(const VerbRow& verb, std::span<const std::string_view> arguments) {
  GUARD_TRY_ASSIGN(SplitArguments split, split_arguments(arguments, verb.options, verb.placement));
  Options options;
  options.verb = &verb;
  GUARD_TRY_ASSIGN(const ActionRow* action, take_action(verb, split.positional));
  options.action = action->action;
  GUARD_TRY(check_arguments(verb, *action, split.positional));
  GUARD_TRY(check_options(verb, options.action, split));
  options.arguments = split.positional;
  for (const auto& row : verb.options) {
    if (const auto given = split.options.find(row.name); given != split.options.end())
      GUARD_TRY(read_option(row, given->second, options));
  }
  if (verb.check != nullptr) GUARD_TRY(verb.check(split, options));
  return options;
}

// ---- answers ----

Answer usage_answer(const Error& error) {
  return {
      .err = fmt::format("error: USAGE: {}\n  hint: {}\n", error.message(), error.hint()), .exit_status = kUsageStatus};
}

Answer unknown_verb(std::string_view name) {
  if (name.starts_with("-"))
    return usage_answer(mistake(
        fmt::format("unknown option {}", shown_value(name)), "options go behind the verb: guard check --staged"));
  std::vector<std::string_view> names = {"help"};
  for (const auto& row : verbs()) names.push_back(row.name);
  const auto near = nearest_word(name, names);
  return usage_answer(mistake(fmt::format("unknown verb \"{}\"", shown_value(name)),
      near.empty() ? "`guard help` lists all verbs" : fmt::format("did you mean `guard {}`?", near)));
}

bool is_help(std::string_view argument) { return argument == "--help" || argument == "-h"; }

}  // namespace

Error mistake(std::string sentence, std::string hint) {
  return Error(ErrorCode::usage, std::move(sentence)).hint(std::move(hint));
}

ParsedCommand parse_command_line(std::span<const std::string_view> arguments) {
  if (arguments.empty()) return Answer{.err = short_help_text(), .exit_status = kUsageStatus};
  const std::string_view first = arguments[0];
  if (first == "--version" || first == "-V") return Answer{.out = "guard " GUARD_VERSION "\n"};
  if (is_help(first) || (first == "help" && arguments.size() == 1)) return Answer{.out = help_text()};
  const bool asks = first == "help";
  const std::string_view name = arguments[asks ? 1 : 0];
  const auto* verb = find_verb(name);
  if (verb == nullptr) return unknown_verb(name);
  const auto rest = arguments.subspan(1);
  // Whoever asks for help gets it, whatever else is wrong with the line.
  if (asks || std::any_of(rest.begin(), std::ranges::find(rest, "--"), is_help)) return Answer{.out = help_text(*verb)};
  auto parsed = parse_verb(*verb, rest);
  if (!parsed) return usage_answer(parsed.error());
  return std::move(*parsed);
}

ParsedCommand parse_command_line(int argc, const char* const* argv) {
  std::vector<std::string_view> arguments;
  for (int i = 1; i < argc; ++i) arguments.emplace_back(argv[i]);
  return parse_command_line(arguments);
}

}  // namespace guard
