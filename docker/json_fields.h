// Typed reading of foreign JSON for docker/'s own sources: a field that is missing or of another kind is "not there",
// never a guess and never an exception.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/text/foreign_json.h"

namespace guard::docker {

// Null (discarded) on anything that is not one JSON document of a bearable depth.
inline nlohmann::json parse_answer(std::string_view text) {
  auto document = parse_json(text);
  return document ? std::move(*document) : nlohmann::json(nlohmann::json::value_t::discarded);
}

// The field, or nullptr; `object` may be of any kind.
inline const nlohmann::json* find_field(const nlohmann::json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

inline std::optional<std::string> string_field(const nlohmann::json& object, std::string_view key) {
  const auto* field = find_field(object, key);
  if (field == nullptr || !field->is_string()) return std::nullopt;
  return field->get_ref<const std::string&>();
}

inline std::optional<bool> bool_field(const nlohmann::json& object, std::string_view key) {
  const auto* field = find_field(object, key);
  if (field == nullptr || !field->is_boolean()) return std::nullopt;
  return field->get<bool>();
}

inline std::optional<std::int64_t> integer_field(const nlohmann::json& object, std::string_view key) {
  const auto* field = find_field(object, key);
  if (field == nullptr || !field->is_number_integer()) return std::nullopt;
  return field->get<std::int64_t>();
}

// Go writes an empty map as null; both are empty here.
inline std::map<std::string, std::string> string_map_field(const nlohmann::json& object, std::string_view key) {
  std::map<std::string, std::string> values;
  const auto* field = find_field(object, key);
  if (field == nullptr || !field->is_object()) return values;
  for (const auto& [name, value] : field->items()) {
    if (value.is_string()) values[name] = value.get_ref<const std::string&>();
  }
  return values;
}

}  // namespace guard::docker
