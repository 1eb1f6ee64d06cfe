// Pieces that several of our JSON documents have in common. Keys stay in the order in which they are written: people
// read these documents too.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/error.h"
#include "runner/process/exec_result.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

// Text of foreign origin may be anything; a document is UTF-8.
std::string clean(std::string_view text);

nlohmann::ordered_json error_json(const Error& error);

nlohmann::ordered_json attested_json(const Attested& attested);

// What was asked for. `keep_bytes`: the cap of the output.
nlohmann::ordered_json limits_json(const SandboxSpec& spec, std::uint64_t keep_bytes);

// Indented, with a newline at the end.
std::string dump(const nlohmann::ordered_json& document);

}  // namespace guard
