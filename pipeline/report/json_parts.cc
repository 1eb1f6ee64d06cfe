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

Json attested_json(const Attested& attested) {
  return {{"ran", attested.count("begun")}, {"expected_failures", attested.count("expected_failures")},
      {"redirected", attested.redirected}};
}

Json limits_json(const SandboxSpec& spec, std::uint64_t keep_bytes) {
  const Limits& limits = spec.limits;
  return {{"memory_bytes", limits.memory_bytes}, {"cpus", limits.cpus}, {"pids", limits.pids},
      {"tmp_bytes", limits.tmp_bytes}, {"sandbox_bytes", limits.sandbox_bytes}, {"sandbox_files", limits.sandbox_files},
      {"output_flood_bytes", limits.output_flood_bytes}, {"open_files", limits.open_files},
      {"file_bytes", limits.file_bytes}, {"timeout_ms", spec.timeout.count()}, {"grace_ms", spec.grace.count()},
      {"network", to_string(spec.network)}, {"output_keep_bytes", keep_bytes}};
}

}  // namespace guard
