// JSON that others wrote: lockfiles, evidence records, answers of an engine, events of coding agents. The only place
// where such text becomes values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "common/result.h"

namespace guard {

// None of these documents is a dozen levels deep. Copying, comparing and printing values recurse, so depth is stack.
inline constexpr std::size_t kJsonDepthMax = 64;

inline constexpr std::size_t kNoLimit = ~std::size_t{0};

enum class RepeatedKeys : std::uint8_t { last_counts, refused };

// One document and nothing beside it. INPUT_INVALID with the end of a sentence: "is not JSON", "is nested more than 64
// levels deep", "has the key \"x\" twice in one object".
// With RepeatedKeys::refused also "holds more than 9 values": a value takes some forty times its text in memory.
Result<nlohmann::json> parse_json(
    std::string_view text, RepeatedKeys repeated = RepeatedKeys::last_counts, std::size_t values_max = kNoLimit);

}  // namespace guard
