// The table of keys: one row each. From it come the parsing of file, environment and options, `guard config show`, the
// guard.toml that `guard init` writes, and (held by a test) docs/configuration.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pipeline/config/config.h"

namespace guard {

// A choice is kept as the index of its name.
struct ChoiceSlot {
  std::span<const std::string_view> names;
  void (*set)(Config&, std::size_t);
  std::size_t (*get)(Config&);
};
using VariablesSlot = std::map<std::string, PassedVariable>& (*)(Config&);
using WaiversSlot = std::vector<Waiver>& (*)(Config&);
using CredentialsSlot = std::vector<CredentialRule>& (*)(Config&);
using TimeSlot = milliseconds& (*)(Config&);
using BackendsSlot = std::vector<Backend>& (*)(Config&);

// Where a row's value lives in a Config, and with that what type it has.
using ConfigSlot = std::variant<ChoiceSlot, bool& (*)(Config&), std::uint64_t& (*)(Config&), double& (*)(Config&),
    std::string& (*)(Config&), std::vector<std::string>& (*)(Config&), VariablesSlot, WaiversSlot, CredentialsSlot,
    TimeSlot, BackendsSlot>;

// What a list of backends is written as where it is empty.
inline constexpr std::string_view kNoBackend = "none";

// What is wrong with a text or with an item of a list, as the end of a sentence; empty: nothing.
using TextRule = std::string_view (*)(std::string_view);

struct ConfigKey;

// Whether the key's value in a Config lets the tested code do more, lets guard look at less, or shows more than the
// default does. `guard run` and `guard exec` take such a value from a guard.toml only if that file is committed
// (config_trust.h).
using Relaxes = bool (*)(const ConfigKey&, const Config&);

// What is not true of every key.
struct KeyForm {
  double min = 0;  // of numbers; of times in seconds
  double max = 0;
  bool is_size = false;               // a number of bytes: also text such as "2g"
  std::string_view unit = {};         // "s", "ms"
  TextRule rule = nullptr;            // of a text, and of each item of a list
  std::string_view empty_means = {};  // what an empty text or list stands for
  bool needs_items = false;           // an empty list cannot be meant
  bool adds = false;  // list: adds to what a lower source said; dropping an item would widen what is allowed
  // Of a time: another one, whose value this one has where nothing that counts for more sets it.
  std::string_view inherits = {};
};

struct ConfigKey : KeyForm {
  // `relaxes`: what only `gate` and `nightly` read is taken from the base, and relaxes never. `doc`: one sentence.
  constexpr ConfigKey(
      std::string_view dotted, ConfigSlot at, Relaxes when, std::string_view sentence, KeyForm form = {})
      : KeyForm(form),
        section(dotted.find('.') == dotted.npos ? "" : dotted.substr(0, dotted.find('.'))),
        name(dotted.substr(section.empty() ? 0 : section.size() + 1)),
        slot(at),
        relaxes(when),
        doc(sentence) {}

  std::string_view section;  // empty: before the first [section]
  std::string_view name;
  ConfigSlot slot;
  Relaxes relaxes;
  std::string_view doc;

  std::string dotted() const;            // "limits.memory"
  std::string environment_name() const;  // "GUARD_LIMITS_MEMORY"
  std::string range_text() const;        // "16m to 1t"
  std::string type_text() const;         // "size, 16m to 1t"
  std::span<const std::string_view> choices() const {
    const auto* choice = std::get_if<ChoiceSlot>(&slot);
    return choice == nullptr ? std::span<const std::string_view>() : choice->names;
  }
  // Seconds, or text with a unit: "100ms".
  bool is_time() const { return std::holds_alternative<TimeSlot>(slot); }
  // Variables, waivers and credentials have none: they stand in the file, one by one.
  bool has_text_form() const {
    return !std::holds_alternative<VariablesSlot>(slot) && !std::holds_alternative<WaiversSlot>(slot) &&
        !std::holds_alternative<CredentialsSlot>(slot);
  }
};

std::span<const ConfigKey> config_keys();
const ConfigKey* find_config_key(std::string_view dotted);

// "2g" where it comes out even, else the number.
std::string bytes_text(std::uint64_t bytes);

}  // namespace guard
