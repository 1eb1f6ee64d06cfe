// Splits a verb's arguments along a table of its options.
//
// CLI11 does the splitting: one CLI::App for the one verb that was called, its options and flags made from the table,
// everything else left over as it stood. A gate must look at the file that was named, to the byte, so what CLI11 does
// for comfort is kept away from names and values:
//   - Positional arguments are its extras. Declared as positionals, `[slug]`, an everyday folder name in web projects,
//     would arrive as `slug` and `[a,b]` as two files; the same happens to options that take several values at once.
//   - Values are taken as they were typed: no conversion, no delimiter, no default, no environment, no config file.
//   - `--project= FILE` would take FILE for the value, `--flag=true` pass for a flag, `--mode --staged` make a value of
//     an option. Such arguments are refused before CLI11 sees them, and it never sees `--` nor what stands behind it.
//   - Its own help, its wording of mistakes and its exceptions stay inside.
//
// Options are `--name VALUE` or `--name=VALUE`, a few also `-n VALUE`; they may stand before or after other arguments,
// and `--` ends them. No abbreviations: a script must not change its meaning when an option is added.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/result.h"

namespace guard {

struct Options;

// Takes a value into Options; USAGE where it can't be meant.
using OptionReader = Result<void> (*)(std::string_view value, Options& options);
using OptionTarget = std::variant<std::monostate, bool Options::*, std::string Options::*,
    std::vector<std::string> Options::*, OptionReader>;

struct OptionRow {
  std::string_view name;                           // "--memory"
  std::string_view value = {};                     // "BYTES" in the help; empty: a flag
  std::string_view help = {};                      // one line
  OptionTarget into = {};                          // where it goes
  std::span<const std::string_view> choices = {};  // empty: any value
  bool repeats = false;
  std::string_view short_name = {};  // "-t"
  std::string_view key = {};         // instead of `into`: the key of the configuration that it sets
  std::string_view only = {};        // the actions that it belongs to, separated by blanks; empty: all
  std::string_view excludes = {};    // options further down in the table that can't go with it
};

enum class Placement : std::uint8_t {
  anywhere,      // arguments before and after options
  behind_dashes  // a program's own argv: only behind `--`, so that none of its options can be taken for ours
};

struct SplitArguments {
  std::map<std::string_view, std::vector<std::string>> options;  // by name; a flag that was given has one empty value
  std::vector<std::string> positional;
  // positional[dash_dash...] stood behind `--`.
  std::size_t dash_dash = 0;

  bool has(std::string_view name) const { return options.find(name) != options.end(); }
  // The (last) value, or `otherwise`.
  std::string value(std::string_view name, std::string_view otherwise = {}) const;
};

// USAGE with one sentence and, where it can be guessed, what was meant.
Result<SplitArguments> split_arguments(
    std::span<const std::string_view> arguments, std::span<const OptionRow> rows, Placement placement);

}  // namespace guard
