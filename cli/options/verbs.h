// The table of verbs: usage, purpose, options, examples. Parsing and help both come from it, so they cannot drift
// apart.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/options/option_parser.h"

namespace guard {

enum class Verb : std::uint8_t {
  check,
  gate,
  run,
  exec,
  image,
  rules,
  doctor,
  config,
  init,
  brief,
  redact,
  hook,
  verify,
  nightly,
  clean,
  audit,
  generate
};

struct VerbRow {
  Verb verb;
  std::string_view name;
  std::string_view summary;  // one line of `guard help`
  std::string_view usage;    // lines without the leading "guard "
  std::string_view about;    // a short paragraph
  std::span<const OptionRow> options;
  std::string_view examples;
  std::string_view exit_status;
  Placement placement = Placement::anywhere;
};

std::span<const VerbRow> verbs();
const VerbRow* find_verb(std::string_view name);

std::string help_text(const VerbRow& row);
std::string help_text();        // of guard itself
std::string short_help_text();  // when guard is called without a verb

}  // namespace guard
