// Pieces that several of our JSON documents have in common. Keys stay in the order in which they are written: people
// read these documents too.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/error.h"

namespace guard {

// Text of foreign origin may be anything; a document is UTF-8.
std::string clean(std::string_view text);

nlohmann::ordered_json error_json(const Error& error);

// Indented, with a newline at the end.
std::string dump(const nlohmann::ordered_json& document);

}  // namespace guard
