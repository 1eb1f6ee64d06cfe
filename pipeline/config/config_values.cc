#include "pipeline/config/config_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "common/text/text.h"
#include "common/text/time_text.h"
#include "pipeline/config/config_texts.h"

namespace guard {
namespace {

using Kind = TomlValue::Kind;

constexpr std::size_t kListItemsMax = 10'000;

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;  // clang 14 makes none of its own

TomlValue string_value(std::string_view text) {
  TomlValue value;
  value.kind = Kind::string;
  value.text = text;
  return value;
}

// The value that this text would be in a file. Nothing: it is not of the key's type.
std::optional<TomlValue> value_of(const ConfigKey& key, std::string_view text) {
  TomlValue value = string_value(text);
  if (std::holds_alternative<bool& (*)(Config&)>(key.slot)) {
    if (text != "true" && text != "false") return std::nullopt;
    value.kind = Kind::boolean;
    value.boolean = text == "true";
  } else if (std::holds_alternative<std::uint64_t& (*)(Config&)>(key.slot) && !key.is_size) {
    if (!read_number(text, value.integer)) return std::nullopt;
    value.kind = Kind::integer;
  } else if (std::holds_alternative<double& (*)(Config&)>(key.slot)) {
    if (!read_number(text, value.number)) return std::nullopt;
    value.kind = Kind::floating;
  } else if (std::holds_alternative<std::vector<std::string>& (*)(Config&)>(key.slot) ||
      std::holds_alternative<BackendsSlot>(key.slot)) {
    value.kind = Kind::array;
    for (std::size_t at = 0; !trimmed(text).empty() && at <= text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      value.items.push_back(string_value(trimmed(text.substr(at, end - at))));
      at = end + 1;
    }
  }
  return value;
}

std::string in_quotes(std::string_view text) { return fmt::format("\"{}\"", shown_value(text)); }

std::string wanted(const ConfigKey& key) {
  if (!key.choices().empty()) return fmt::format("one of \"{}\"", fmt::join(key.choices(), "\", \""));
  if (std::holds_alternative<BackendsSlot>(key.slot))
    return fmt::format("\"{}\" or a list of \"{}\"", kNoBackend, fmt::join(kNamesOf<Backend>, "\", \""));
  const std::string_view end = key.is_size ? ", as a number of bytes or with k, m, g or t"
      : key.is_time()                      ? ", as a number of seconds or with ms or s"
                                           : "";
  constexpr std::string_view kTypes[] = {"", "true or false", "a whole number from ", "a number from ", "a string",
      "a list of strings", "a table of variables", "an array of tables", "an array of tables", "a time from "};
  const std::string_view type = key.is_size ? "a size from " : kTypes[key.slot.index()];
  return fmt::format("{}{}{}", type, key.min == key.max ? std::string() : key.range_text(), end);
}

// One value on its way into a Config.
class Setter {
 public:
  // `as_given`: how a text from elsewhere is quoted; empty for a file, where the value is shown as it is there.
  Setter(const ConfigKey& key, const TomlValue& value, std::string_view file_name, Config& config,
      std::string as_given = {})
      : key_(key), value_(value), file_name_(file_name), config_(config), as_given_(std::move(as_given)) {}

  ConfigComplaints set() && {
    std::visit([this](const auto& slot) { take(slot); }, key_.slot);
    return std::move(complaints_);
  }

  void refuse(std::string_view got) { refuse_at(value_, got); }

 private:
  void refuse_at(const TomlValue& place, std::string_view got) {
    complain(place, fmt::format("{} must be {}, not {}", key_.dotted(), wanted(key_), got));
  }

  void complain(const TomlValue& place, std::string sentence) {
    complaints_.push_back({std::move(sentence), place.line, place.column});
  }

  bool is(Kind kind) {
    if (value_.kind != kind) refuse(value_.kind_name());
    return value_.kind == kind;
  }

  bool is_good(const TomlValue& text) {
    std::string_view fault = any_text_rule(text.text);
    if (fault.empty() && key_.rule != nullptr) fault = key_.rule(text.text);
    if (!fault.empty()) complain(text, fmt::format("{}: \"{}\" {}", key_.dotted(), shown_value(text.text), fault));
    return fault.empty();
  }

  template <typename Number>
  void take_number(Number& (*slot)(Config&), Number number, const std::string& shown) {
    const auto value = static_cast<double>(number);
    // So that NaN is refused, too.
    if (!(value >= key_.min && value <= key_.max)) return refuse(as_given_.empty() ? shown : as_given_);
    slot(config_) = number;
  }

  void take(const ChoiceSlot& choice) {
    if (!is(Kind::string)) return;
    const auto found = std::ranges::find(choice.names, value_.text);
    if (found != choice.names.end()) return choice.set(config_, static_cast<std::size_t>(found - choice.names.begin()));
    refuse_word(value_, choice.names);
  }

  void take(bool& (*slot)(Config&)) {
    if (is(Kind::boolean)) slot(config_) = value_.boolean;
  }

  void take(std::uint64_t& (*slot)(Config&)) {
    std::uint64_t bytes = 0;
    if (key_.is_size && value_.kind == Kind::string) {
      const std::string shown = in_quotes(value_.text);
      return parse_bytes(value_.text, bytes) ? take_number(slot, bytes, shown) : refuse(shown);
    }
    if (!is(Kind::integer)) return;
    const std::string shown = std::to_string(value_.integer);
    if (value_.integer < 0) return refuse(as_given_.empty() ? shown : as_given_);
    take_number(slot, static_cast<std::uint64_t>(value_.integer), shown);
  }

  void take(double& (*slot)(Config&)) {
    if (value_.kind == Kind::integer || is(Kind::floating))
      take_number(slot, value_.number, fmt::format("{}", value_.number));
  }

  void take(TimeSlot slot) {
    const bool is_text = value_.kind == Kind::string;
    if (!is_text && value_.kind != Kind::integer) is(Kind::floating);
    if (!complaints_.empty()) return;
    const std::string text = is_text ? value_.text : fmt::format("{}", value_.number);
    const std::string shown = is_text ? in_quotes(text) : text;
    milliseconds time{0};
    if (!parse_time(text, time)) return refuse(shown);
    const double seconds = std::chrono::duration<double>(time).count();
    if (seconds < key_.min || seconds > key_.max) return refuse(shown);
    slot(config_) = time;
  }

  void take(std::string& (*slot)(Config&)) {
    if (is(Kind::string) && is_good(value_)) slot(config_) = value_.text;
  }

  void take(std::vector<std::string>& (*slot)(Config&)) {
    if (!is(Kind::array)) return;
    if (value_.items.size() > kListItemsMax)
      return complain(value_, fmt::format("{} has more than {} items", key_.dotted(), kListItemsMax));
    if (value_.items.empty() && key_.needs_items)
      return complain(value_, fmt::format("{} is empty; leave it out to get the default", key_.dotted()));
    std::vector<std::string> items = key_.adds ? slot(config_) : std::vector<std::string>();
    for (const auto& item : value_.items) {
      if (item.kind != Kind::string) {
        complain(item, fmt::format("{}: every item must be a string, not {}", key_.dotted(), item.kind_name()));
      } else if (is_good(item) && !(key_.adds && std::ranges::find(items, item.text) != items.end())) {
        items.push_back(item.text);
      }
    }
    if (complaints_.empty()) slot(config_) = std::move(items);
  }

  void take(VariablesSlot) {
    if (!is(Kind::table)) return;
    for (const auto& given : value_.members) {
      const bool inherited = given.value.kind == Kind::boolean && given.value.boolean;
      std::optional<ConfigComplaint> fault;
      if (!inherited && given.value.kind != Kind::string) {
        fault = ConfigComplaint{
            fmt::format("run.env.{} must be a string, or true to pass guard's own value on", shown_value(given.key))};
      } else {
        fault = set_variable(
            given.key, inherited ? std::nullopt : std::optional<std::string_view>(given.value.text), config_);
      }
      if (fault) complaints_.push_back({std::move(fault->sentence), given.line, given.column});
    }
  }

  void take(WaiversSlot slot) {
    if (!is(Kind::array)) return;
    for (const auto& item : value_.items) add_waiver(item, file_name_, slot(config_), complaints_);
  }

  void take(CredentialsSlot slot) {
    if (!is(Kind::array)) return;
    for (const auto& item : value_.items) add_credential(item, file_name_, slot(config_), complaints_);
  }

  // A text alone is a list of one.
  void take(BackendsSlot slot) {
    const bool is_list = value_.kind == Kind::array;
    if (!is_list && !is(Kind::string)) return;
    const std::span<const TomlValue> items(is_list ? value_.items.data() : &value_, is_list ? value_.items.size() : 1);
    std::vector<Backend> backends;
    for (const auto& item : items) {
      const auto backend = item.kind == Kind::string ? named<Backend>(item.text) : std::nullopt;
      if (backend) {
        backends.push_back(*backend);
      } else if (items.size() > 1 || item.text != kNoBackend) {
        return refuse_word(item, kNamesOf<Backend>);
      }
    }
    slot(config_) = std::move(backends);
  }

  void refuse_word(const TomlValue& word, std::span<const std::string_view> known) {
    const auto near = nearest_word(word.text, {known.begin(), known.end()});
    const std::string hint = near.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", near);
    refuse_at(word, (word.kind == Kind::string ? in_quotes(word.text) : std::string(word.kind_name())) + hint);
  }

  const ConfigKey& key_;
  const TomlValue& value_;
  std::string_view file_name_;
  Config& config_;
  std::string as_given_;
  ConfigComplaints complaints_;
};

template <typename Items, typename Text = std::identity>
std::string toml_list(const Items& items, Text text = {}) {
  std::vector<std::string> literals;
  for (const auto& item : items) literals.push_back(toml_string(text(item)));
  return fmt::format("[{}]", fmt::join(literals, ", "));
}

}  // namespace

ConfigComplaints set_from_text(const ConfigKey& key, std::string_view text, Config& config) {
  if (!key.has_text_form()) return {{fmt::format("{} can only be set in guard.toml", key.dotted())}};
  const std::string as_given = in_quotes(text);
  const auto value = value_of(key, text);
  if (value) return Setter(key, *value, {}, config, as_given).set();
  return {{fmt::format("{} must be {}, not {}", key.dotted(), wanted(key), as_given)}};
}

ConfigComplaints set_from_toml(
    const ConfigKey& key, const TomlValue& value, std::string_view file_name, Config& config) {
  return Setter(key, value, file_name, config).set();
}

std::optional<ConfigComplaint> set_variable(
    std::string_view name, std::optional<std::string_view> value, Config& config) {
  if (const auto fault = variable_rule(name); !fault.empty())
    return ConfigComplaint{fmt::format("run.env: \"{}\" {}", shown_value(name), fault)};
  if (value && value->find('\0') != std::string_view::npos)
    return ConfigComplaint{fmt::format("run.env.{} holds a NUL, which no environment can", name)};
  config.run.env[std::string(name)] = {.text = std::string(value.value_or("")), .inherited = !value};
  return std::nullopt;
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string toml_literal(const ConfigKey& key, const Config& config) {
  // Slots hand out references into a Config that may be changed; nothing is changed here.
  auto& values = const_cast<Config&>(config);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return std::visit(Overloaded{[&](const ChoiceSlot& choice) { return toml_string(choice.names[choice.get(values)]); },
                        [&](bool& (*slot)(Config&)) { return std::string(slot(values) ? "true" : "false"); },
                        [&](std::uint64_t& (*slot)(Config&)) {
                          return key.is_size ? toml_string(bytes_text(slot(values))) : std::to_string(slot(values));
                        },
                        [&](double& (*slot)(Config&)) { return fmt::format("{}", slot(values)); },
                        [&](std::string& (*slot)(Config&)) { return toml_string(slot(values)); },
                        [&](std::vector<std::string>& (*slot)(Config&)) { return toml_list(slot(values)); },
                        [&](TimeSlot slot) {
                          const milliseconds time = slot(values);
                          return time.count() % 1000 == 0 ? std::to_string(time.count() / 1000)
                                                          : toml_string(fmt::format("{}ms", time.count()));
                        },
                        [&](BackendsSlot slot) {
                          const auto& backends = slot(values);
                          if (backends.empty()) return toml_string(kNoBackend);
                          if (backends.size() == 1) return toml_string(to_string(backends.front()));
                          return toml_list(backends, to_string<Backend>);
                        },
                        [](VariablesSlot) { return std::string("{}"); }, [](WaiversSlot) { return std::string("[]"); },
                        [](CredentialsSlot) { return std::string("[]"); }},
      key.slot);
}

}  // namespace guard
