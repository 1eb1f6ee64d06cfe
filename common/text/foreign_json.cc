#include "common/text/foreign_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/text/text.h"

namespace guard {
namespace {

using nlohmann::json;

Error refused(std::string sentence) { return Error(ErrorCode::input_invalid, std::move(sentence)); }

// Looks at the text, before anything is built from it: a document of nothing but brackets takes a hundred times its
// size in memory. What it has too much of; empty: nothing.
std::string excess(std::string_view text, const JsonLimits& limits) {
  std::size_t depth = 0;
  std::size_t values = 1;
  std::size_t containers = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == ',') {
      if (++values > limits.values) return fmt::format("holds more than {} values", limits.values);
    } else if (c == '{' || c == '[') {
      if (++depth > kJsonDepthMax) return fmt::format("is nested more than {} levels deep", kJsonDepthMax);
      if (++containers > limits.containers)
        return fmt::format("holds more than {} objects and lists", limits.containers);
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return {};
}

}  // namespace

Result<json> parse_json(std::string_view text, RepeatedKeys repeated, const JsonLimits& limits) {
  // The parser takes a NUL for the end, and what follows it would not be looked at.
  if (text.find('\0') != std::string_view::npos) return refused("holds a NUL byte and is not JSON");
  if (std::string why = excess(text, limits); !why.empty()) return refused(std::move(why));
  std::vector<std::set<std::string>> open;
  std::string twice;
  bool is_repeated = false;
  const json::parser_callback_t watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second) {
      twice = value.get<std::string>();
      is_repeated = true;
    }
    return true;
  };
  json document = json::parse(text.begin(), text.end(),
      repeated == RepeatedKeys::refused ? watch : json::parser_callback_t(), /*allow_exceptions=*/false);
  if (document.is_discarded()) return refused("is not JSON");
  if (is_repeated) return refused(fmt::format("has the key \"{}\" twice in one object", printable(twice)));
  return document;
}

}  // namespace guard
