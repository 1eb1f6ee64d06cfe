// Reads an evidence record that anybody may have written: what cannot be read in exactly one way is refused.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace guard {

// A record lists every file of a project and every finding; this is ten times what the largest projects come to.
inline constexpr std::uint64_t kEvidenceBytesMax = 32u << 20;

// INPUT_INVALID: not one JSON object in UTF-8, a key twice in one object, nested deeper than any record, or of a
// version that this guard does not know. The shape is not looked at otherwise.
Result<nlohmann::json> parse_evidence(std::string_view bytes);

// What is missing or of another type than docs/evidence.schema.json says, a sentence each. Fields that this guard does
// not know are no fault.
std::vector<std::string> shape_faults(const nlohmann::json& record);

}  // namespace guard
