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

enum class KeyType : std::uint8_t { choice, boolean, integer, decimal, bytes, text, list, variables, waivers };

// A choice is kept as the index of its name in `choices`.
struct ChoiceSlot {
  void (*set)(Config&, std::size_t);
  std::size_t (*get)(const Config&);
};

// Where a row's value lives in a Config; the alternative is fixed by the row's type.
using ConfigSlot = std::variant<ChoiceSlot, bool& (*)(Config&), std::uint64_t& (*)(Config&), double& (*)(Config&),
    std::string& (*)(Config&), std::vector<std::string>& (*)(Config&), std::monostate>;

// What is wrong with a text or with an item of a list, as the end of a sentence; empty: nothing.
using TextRule = std::string_view (*)(std::string_view);

struct ConfigKey;

// Whether the key's value in a Config lets the tested code do more, lets guard look at less, or shows more than the
// default does. `guard run` and `guard exec` take such a value from a guard.toml only if that file is committed
// (config_trust.h).
using Relaxes = bool (*)(const ConfigKey&, const Config&);

struct ConfigKey {
  std::string_view section;  // empty: before the first [section]
  std::string_view name;
  KeyType type = KeyType::text;
  std::string_view doc;  // one sentence
  ConfigSlot slot;
  std::span<const std::string_view> choices = {};
  double min = 0;  // integer, decimal, bytes
  double max = 0;
  TextRule rule = nullptr;            // text, and each item of a list
  std::string_view unit = {};         // "s", "ms"
  std::string_view empty_means = {};  // what an empty text or list stands for
  bool needs_items = false;           // an empty list cannot be meant
  Relaxes relaxes = nullptr;  // every row has one; what only `gate` and `nightly` read is taken from the base: never
  std::string_view inherits =
      {};             // a key of the same type, whose value this one has where nothing that counts for more sets it
  bool adds = false;  // list: adds to what a lower source said; dropping an item would widen what is allowed

  std::string dotted() const;            // "limits.memory"
  std::string environment_name() const;  // "GUARD_LIMITS_MEMORY"
  std::string range_text() const;        // "16m to 1t"
  std::string type_text() const;         // "size, 16m to 1t"
};

std::span<const ConfigKey> config_keys();
const ConfigKey* find_config_key(std::string_view dotted);

// "2g" where it comes out even, else the number.
std::string bytes_text(std::uint64_t bytes);

}  // namespace guard
