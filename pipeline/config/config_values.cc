#include "pipeline/config/config_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "common/text/text.h"
#include "pipeline/config/config_texts.h"
#include "pipeline/config/config_waivers.h"

namespace guard {
namespace {

using enum KeyType;

constexpr std::size_t kListItemsMax = 10'000;

std::string choices_text(const ConfigKey& key) { return fmt::format("\"{}\"", fmt::join(key.choices, "\", \"")); }

std::string wanted(const ConfigKey& key) {
  switch (key.type) {
    case choice: return fmt::format("one of {}", choices_text(key));
    case boolean: return "true or false";
    case integer: return fmt::format("a whole number from {}", key.range_text());
    case decimal: return fmt::format("a number from {}", key.range_text());
    case KeyType::bytes:
      return fmt::format("a size from {}, as a number of bytes or with k, m, g or t", key.range_text());
    case KeyType::text: return "a string";
    case list: return "a list of strings";
    case variables: return "a table of variables";
    case KeyType::waivers: return "an array of tables";
  }
  return {};
}

ConfigComplaint refuse(const ConfigKey& key, std::string_view got) {
  return {.sentence = fmt::format("{} must be {}, not {}", key.dotted(), wanted(key), got)};
}

template <typename Reference>
auto& member(const ConfigKey& key, Config& config) {
  return std::get<Reference (*)(Config&)>(key.slot)(config);
}

std::optional<ConfigComplaint> set_choice(const ConfigKey& key, std::string_view name, Config& config) {
  const auto found = std::find(key.choices.begin(), key.choices.end(), name);
  if (found == key.choices.end()) {
    auto complaint = refuse(key, fmt::format("\"{}\"", shown_value(name)));
    const auto near = nearest_word(name, {key.choices.begin(), key.choices.end()});
    if (!near.empty()) complaint.sentence += fmt::format("; did you mean \"{}\"?", near);
    return complaint;
  }
  std::get<ChoiceSlot>(key.slot).set(config, static_cast<std::size_t>(found - key.choices.begin()));
  return std::nullopt;
}

std::optional<ConfigComplaint> set_number(
    const ConfigKey& key, std::uint64_t number, std::string_view as_given, Config& config) {
  const auto value = static_cast<double>(number);
  if (value < key.min || value > key.max) return refuse(key, as_given);
  member<std::uint64_t&>(key, config) = number;
  return std::nullopt;
}

std::optional<ConfigComplaint> set_decimal(
    const ConfigKey& key, double number, std::string_view as_given, Config& config) {
  if (!(number >= key.min && number <= key.max)) return refuse(key, as_given);  // so that NaN is refused, too
  member<double&>(key, config) = number;
  return std::nullopt;
}

std::optional<ConfigComplaint> text_fault(const ConfigKey& key, std::string_view text) {
  std::string_view fault = any_text_rule(text);
  if (fault.empty() && key.rule != nullptr) fault = key.rule(text);
  if (fault.empty()) return std::nullopt;
  return ConfigComplaint{.sentence = fmt::format("{}: \"{}\" {}", key.dotted(), shown_value(text), fault)};
}

std::optional<ConfigComplaint> set_list(const ConfigKey& key, const std::vector<std::string>& items, Config& config) {
  if (items.size() > kListItemsMax)
    return ConfigComplaint{.sentence = fmt::format("{} has more than {} items", key.dotted(), kListItemsMax)};
  if (items.empty() && key.needs_items) {
    return ConfigComplaint{.sentence = fmt::format("{} is empty; leave it out to get the default", key.dotted())};
  }
  auto& values = member<std::vector<std::string>&>(key, config);
  if (!key.adds) {
    values = items;
    return std::nullopt;
  }
  for (const auto& item : items) {
    if (std::find(values.begin(), values.end(), item) == values.end()) values.push_back(item);
  }
  return std::nullopt;
}

void set_variables(const TomlValue& table, Config& config, std::vector<ConfigComplaint>& complaints) {
  for (const auto& given : table.members) {
    const bool inherited = given.value.kind == TomlValue::Kind::boolean && given.value.boolean;
    std::optional<ConfigComplaint> fault;
    if (!inherited && given.value.kind != TomlValue::Kind::string) {
      fault = ConfigComplaint{
          fmt::format("run.env.{} must be a string, or true to pass guard's own value on", shown_value(given.key))};
    } else {
      fault =
          set_variable(given.key, inherited ? std::nullopt : std::optional<std::string_view>(given.value.text), config);
    }
    if (!fault) continue;
    fault->line = given.line;
    fault->column = given.column;
    complaints.push_back(std::move(*fault));
  }
}

}  // namespace

std::optional<ConfigComplaint> set_from_text(const ConfigKey& key, std::string_view given, Config& config) {
  const std::string as_given = fmt::format("\"{}\"", shown_value(given));
  switch (key.type) {
    case choice: return set_choice(key, given, config);
    case boolean:
      if (given != "true" && given != "false") return refuse(key, as_given);
      member<bool&>(key, config) = given == "true";
      return std::nullopt;
    case integer: {
      std::uint64_t number = 0;
      const auto [end, fault] = std::from_chars(given.data(), given.data() + given.size(), number);
      if (fault != std::errc() || end != given.data() + given.size()) return refuse(key, as_given);
      return set_number(key, number, as_given, config);
    }
    case decimal: {
      double number = 0;
      const auto [end, fault] = std::from_chars(given.data(), given.data() + given.size(), number);
      if (fault != std::errc() || end != given.data() + given.size()) return refuse(key, as_given);
      return set_decimal(key, number, as_given, config);
    }
    case KeyType::bytes: {
      std::uint64_t number = 0;
      if (!parse_bytes(given, number)) return refuse(key, as_given);
      return set_number(key, number, as_given, config);
    }
    case KeyType::text:
      if (auto fault = text_fault(key, given)) return fault;
      member<std::string&>(key, config) = given;
      return std::nullopt;
    case list: {
      std::vector<std::string> items;
      for (std::size_t at = 0; !trimmed(given).empty() && at <= given.size();) {
        const std::size_t end = std::min(given.find(',', at), given.size());
        const auto item = trimmed(given.substr(at, end - at));
        if (auto fault = text_fault(key, item)) return fault;
        items.emplace_back(item);
        at = end + 1;
      }
      return set_list(key, items, config);
    }
    case variables:
    case KeyType::waivers: break;
  }
  return ConfigComplaint{.sentence = fmt::format("{} can only be set in guard.toml", key.dotted())};
}

void set_from_toml(const ConfigKey& key, const TomlValue& value, std::string_view file_name, Config& config,
    std::vector<ConfigComplaint>& complaints) {
  using Kind = TomlValue::Kind;
  const auto take = [&](std::optional<ConfigComplaint> fault, const TomlValue& place) {
    if (!fault) return;
    fault->line = place.line;
    fault->column = place.column;
    complaints.push_back(std::move(*fault));
  };
  const auto wrong_kind = [&] { take(refuse(key, value.kind_name()), value); };
  switch (key.type) {
    case choice: return value.kind == Kind::string ? take(set_choice(key, value.text, config), value) : wrong_kind();
    case boolean:
      if (value.kind != Kind::boolean) return wrong_kind();
      member<bool&>(key, config) = value.boolean;
      return;
    case KeyType::bytes:
      if (value.kind == Kind::string) return take(set_from_text(key, value.text, config), value);
      [[fallthrough]];
    case integer:
      if (value.kind != Kind::integer) return wrong_kind();
      if (value.integer < 0) return take(refuse(key, std::to_string(value.integer)), value);
      return take(
          set_number(key, static_cast<std::uint64_t>(value.integer), std::to_string(value.integer), config), value);
    case decimal:
      if (value.kind != Kind::integer && value.kind != Kind::floating) return wrong_kind();
      return take(set_decimal(key, value.number, fmt::format("{}", value.number), config), value);
    case KeyType::text:
      if (value.kind != Kind::string) return wrong_kind();
      if (auto fault = text_fault(key, value.text)) return take(std::move(fault), value);
      member<std::string&>(key, config) = value.text;
      return;
    case list: {
      if (value.kind != Kind::array) return wrong_kind();
      std::vector<std::string> items;
      const std::size_t before = complaints.size();
      for (const auto& item : value.items) {
        if (item.kind != Kind::string) {
          take(ConfigComplaint{fmt::format("{}: every item must be a string, not {}", key.dotted(), item.kind_name())},
              item);
        } else if (auto fault = text_fault(key, item.text)) {
          take(std::move(fault), item);
        } else {
          items.push_back(item.text);
        }
      }
      if (complaints.size() == before) take(set_list(key, items, config), value);
      return;
    }
    case variables: return value.kind == Kind::table ? set_variables(value, config, complaints) : wrong_kind();
    case KeyType::waivers:
      if (value.kind != Kind::array) return wrong_kind();
      for (const auto& item : value.items) add_waiver(item, file_name, config, complaints);
      return;
  }
}

std::optional<ConfigComplaint> set_variable(
    std::string_view name, std::optional<std::string_view> value, Config& config) {
  if (const auto fault = variable_rule(name); !fault.empty()) {
    return ConfigComplaint{.sentence = fmt::format("run.env: \"{}\" {}", shown_value(name), fault)};
  }
  if (value && value->find('\0') != std::string_view::npos) {
    return ConfigComplaint{.sentence = fmt::format("run.env.{} holds a NUL, which no environment can", name)};
  }
  config.run.env[std::string(name)] = {.text = std::string(value.value_or("")), .inherited = !value};
  return std::nullopt;
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_literal(const ConfigKey& key, const Config& config) {
  // Slots hand out references into a Config that may be changed; nothing is changed here.
  auto& values = const_cast<Config&>(config);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  switch (key.type) {
    case choice: return toml_string(key.choices[std::get<ChoiceSlot>(key.slot).get(config)]);
    case boolean: return member<bool&>(key, values) ? "true" : "false";
    case integer: return std::to_string(member<std::uint64_t&>(key, values));
    case decimal: return fmt::format("{}", member<double&>(key, values));
    case KeyType::bytes: return toml_string(bytes_text(member<std::uint64_t&>(key, values)));
    case KeyType::text: return toml_string(member<std::string&>(key, values));
    case list: {
      std::vector<std::string> items;
      for (const auto& item : member<std::vector<std::string>&>(key, values)) items.push_back(toml_string(item));
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
    case variables: return "{}";
    case KeyType::waivers: return "[]";
  }
  return {};
}

}  // namespace guard
