#include "cli/options/option_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>

#include "common/text/text.h"
#include "pipeline/config/config_keys.h"
#include "pipeline/config/config_texts.h"
#include "pipeline/config/config_values.h"

namespace guard {
namespace {

Error unknown_option(std::string_view name, std::span<const OptionRow> rows) {
  std::vector<std::string_view> known = {"--help"};
  for (const auto& row : rows) known.push_back(row.name);
  const auto near = nearest_word(name, known);
  Error error(ErrorCode::usage, fmt::format("unknown option {}", shown_value(name)));
  if (!near.empty()) return std::move(error).hint(fmt::format("did you mean {}?", near));
  return std::move(error).hint("a file whose name starts with a dash goes behind `--`");
}

// The same checks as for guard.toml, but while it can still be called a mistake of usage.
Result<void> check_value(const OptionRow& row, std::string_view value) {
  if (!row.choices.empty() && std::find(row.choices.begin(), row.choices.end(), value) == row.choices.end()) {
    Error error(ErrorCode::usage,
        fmt::format("{} must be {}, not \"{}\"", row.name, fmt::join(row.choices, ", "), shown_value(value)));
    const auto near = nearest_word(value, {row.choices.begin(), row.choices.end()});
    return near.empty() ? std::move(error) : Error(std::move(error).hint(fmt::format("did you mean {}?", near)));
  }
  if (value.empty()) return Error(ErrorCode::usage, fmt::format("{} has an empty value", row.name));
  Config scratch;
  if (const auto* key = find_config_key(row.key)) {
    for (const auto& complaint : set_from_text(*key, value, scratch))
      return Error(ErrorCode::usage, fmt::format("{}: {}", row.name, complaint.sentence));
  }
  return ok();
}

// Says no to what CLI11 would read in a way of its own. A value that begins with two dashes has to stand behind `=`, so
// each argument that begins with them is an option and can be judged without knowing what stood before it.
Result<void> check_spelling(std::span<const std::string_view> arguments, std::span<const OptionRow> rows) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const OptionRow& known) {
      return known.name == name || (!known.short_name.empty() && known.short_name == name);
    });
    if (row == rows.end()) continue;
    if (equals != std::string_view::npos) {
      if (row->value.empty()) return Error(ErrorCode::usage, fmt::format("{} takes no value", name));
      if (equals + 1 == argument.size()) return Error(ErrorCode::usage, fmt::format("{} has an empty value", name));
    } else if (!row->value.empty() && (i + 1 == arguments.size() || arguments[i + 1].starts_with("--"))) {
      return Error(ErrorCode::usage, fmt::format("{0} needs a value: {0} {1}", row->name, row->value));
    }
  }
  return ok();
}

// What is neither an option of the table nor the value of one becomes positional, in its order, unknown options too.
Result<SplitArguments> split_with_cli11(std::span<const std::string_view> arguments, std::span<const OptionRow> rows) {
  try {
    CLI::App app;
    app.set_help_flag();  // without a name: takes away the -h and --help that every App is born with
    app.allow_extras();
    std::vector<std::pair<const OptionRow*, const CLI::Option*>> options;
    for (const auto& row : rows) {
      // An option costs hundreds of small allocations, and of those that nobody gave nobody misses one.
      const bool given = std::any_of(arguments.begin(), arguments.end(),
          [&](std::string_view argument) { return argument.substr(0, argument.find('=')) == row.name; });
      if (!given && row.short_name.empty()) continue;
      const std::string name =
          row.short_name.empty() ? std::string(row.name) : fmt::format("{},{}", row.short_name, row.name);
      // take_all(): how often an option may be given is checked by us, with a better sentence.
      options.emplace_back(&row, (row.value.empty() ? app.add_flag(name) : app.add_option(name))->take_all());
    }
    // CLI11 wants them last to first.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));

    SplitArguments split;
    split.positional = app.remaining();
    for (const auto& [row, option] : options) {
      // results() are the words as they stood, before any of the conversions that as<>() is for.
      const auto& words = option->results();
      if (words.empty()) continue;
      split.options[row->name] = row->value.empty() ? std::vector<std::string>(words.size()) : words;
    }
    return split;
  } catch (const CLI::ParseError& refusal) {
    // Its sentence may quote the arguments, and what --env passes is a secret as often as not.
    return Error(ErrorCode::usage, fmt::format("the options are not understood ({})", refusal.get_name()));
  } catch (const std::exception& failure) {  // a table that CLI11 cannot take, or no memory
    return Error(ErrorCode::internal, fmt::format("the options could not be read: {}", shown_value(failure.what())));
  }
}

}  // namespace

std::string SplitArguments::value(std::string_view name, std::string_view otherwise) const {
  const auto found = options.find(name);
  return std::string(found == options.end() ? otherwise : std::string_view(found->second.back()));
}

Result<SplitArguments> split_arguments(
    std::span<const std::string_view> arguments, std::span<const OptionRow> rows, Placement placement) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  const auto before = arguments.first(static_cast<std::size_t>(dashes - arguments.begin()));
  GUARD_TRY(check_spelling(before, rows));
  GUARD_TRY_ASSIGN(SplitArguments split, split_with_cli11(before, rows));

  for (const std::string_view argument : split.positional) {
    if (argument.size() > 1 && argument[0] == '-') return unknown_option(argument.substr(0, argument.find('=')), rows);
    if (placement == Placement::behind_dashes) {
      return Error(ErrorCode::usage, fmt::format("\"{}\" stands before `--`", shown_value(argument)))
          .hint("put `--` between guard's options and the command: guard exec -- COMMAND ARGUMENT...");
    }
  }
  for (const auto& row : rows) {
    const auto given = split.options.find(row.name);
    if (given == split.options.end()) continue;
    // Twice is a slip or two people's wishes in one command; which one was meant is not ours to guess.
    if (given->second.size() > 1 && !row.repeats) {
      return Error(ErrorCode::usage, fmt::format("{} is given twice", row.name));
    }
    if (row.value.empty()) continue;
    for (const std::string_view value : given->second) GUARD_TRY(check_value(row, value));
  }

  split.dash_dash = split.positional.size();
  if (dashes != arguments.end()) split.positional.insert(split.positional.end(), dashes + 1, arguments.end());
  return split;
}

}  // namespace guard
