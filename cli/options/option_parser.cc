#include "cli/options/option_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

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
  return Error(ErrorCode::usage, fmt::format("unknown option {}", shown_value(name)))
      .hint(near.empty() ? "a file whose name starts with a dash goes behind `--`"
                         : fmt::format("did you mean {}?", near));
}

// The same checks as for guard.toml, but while it can still be called a mistake of usage.
Result<void> check_value(const OptionRow& row, std::string_view value) {
  if (value.empty()) return Error(ErrorCode::usage, fmt::format("{} has an empty value", row.name));
  if (!row.choices.empty() && std::ranges::find(row.choices, value) == row.choices.end()) {
    Error error(ErrorCode::usage,
        fmt::format("{} must be {}, not \"{}\"", row.name, fmt::join(row.choices, ", "), shown_value(value)));
    const auto near = nearest_word(value, {row.choices.begin(), row.choices.end()});
    return near.empty() ? std::move(error) : Error(std::move(error).hint(fmt::format("did you mean {}?", near)));
  }
  Config scratch;
  if (const auto* key = find_config_key(row.key)) {
    for (const auto& complaint : set_from_text(*key, value, scratch))
      return Error(ErrorCode::usage, fmt::format("{}: {}", row.name, complaint.sentence));
  }
  return ok();
}

// The row of an argument that begins with a dash, and the value that stands in the same argument.
std::pair<const OptionRow*, std::optional<std::string_view>> row_of(
    std::string_view argument, std::span<const OptionRow> rows) {
  const std::size_t equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  for (const auto& row : rows) {
    const bool is_short = !row.short_name.empty() && argument.starts_with(row.short_name);
    if (row.name != name && !is_short) continue;
    if (row.name != name && row.short_name != name) return {&row, argument.substr(row.short_name.size())};
    if (equals == std::string_view::npos) return {&row, std::nullopt};
    return {&row, argument.substr(equals + 1)};
  }
  return {};
}

}  // namespace

std::string SplitArguments::value(std::string_view name, std::string_view otherwise) const {
  const auto found = options.find(name);
  return std::string(found == options.end() ? otherwise : std::string_view(found->second.back()));
}

Result<SplitArguments> split_arguments(
    std::span<const std::string_view> arguments, std::span<const OptionRow> rows, Placement placement) {
  SplitArguments split;
  std::size_t at = 0;
  for (; at < arguments.size() && arguments[at] != "--"; ++at) {
    const std::string_view argument = arguments[at];
    if (argument.size() < 2 || argument[0] != '-') {
      if (placement == Placement::behind_dashes)
        return Error(ErrorCode::usage, fmt::format("\"{}\" stands before `--`", shown_value(argument)))
            .hint("put `--` between guard's options and the command: guard exec -- COMMAND ARGUMENT...");
      split.positional.emplace_back(argument);
      continue;
    }
    auto [row, value] = row_of(argument, rows);
    if (row == nullptr) return unknown_option(argument.substr(0, argument.find('=')), rows);
    auto& given = split.options[row->name];
    // Twice is a slip or two people's wishes in one command; which one was meant is not ours to guess.
    if (!given.empty() && !row->repeats) return Error(ErrorCode::usage, fmt::format("{} is given twice", row->name));
    if (row->value.empty()) {
      if (value) return Error(ErrorCode::usage, fmt::format("{} takes no value", row->name));
      given.emplace_back();
      continue;
    }
    if (!value) {
      if (at + 1 == arguments.size() || arguments[at + 1].starts_with("--"))
        return Error(ErrorCode::usage, fmt::format("{0} needs a value: {0} {1}", row->name, row->value));
      value = arguments[++at];
    }
    GUARD_TRY(check_value(*row, *value));
    given.emplace_back(*value);
  }
  split.dash_dash = split.positional.size();
  if (at < arguments.size())
    split.positional.insert(split.positional.end(), arguments.begin() + at + 1, arguments.end());
  return split;
}

}  // namespace guard
