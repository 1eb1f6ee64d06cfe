#include "pipeline/report/json_parts.h"

#include <nlohmann/json.hpp>

#include "common/text/text.h"

namespace guard {

using Json = nlohmann::ordered_json;

std::string clean(std::string_view text) { return is_utf8(text) ? std::string(text) : printable(text); }

std::string dump(const Json& document) { return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json error_json(const Error& error) {
  Json json;
  json["code"] = error.wire_name();
  json["message"] = clean(error.message());
  json["context"] = Json::array();
  for (const auto& frame : error.frames()) json["context"].push_back(clean(frame));
  if (!error.hint().empty()) json["hint"] = clean(error.hint());
  if (!error.details().empty()) {
    for (const auto& [key, value] : error.details()) json["details"][key] = clean(value);
  }
  return json;
}

}  // namespace guard
