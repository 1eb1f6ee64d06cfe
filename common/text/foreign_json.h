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

// A value takes some forty times its text in memory, and the parser looks at all before it where an object ends.
struct JsonLimits {
  std::size_t values = ~std::size_t{0};
  std::size_t containers = ~std::size_t{0};  // objects and lists
};

enum class RepeatedKeys : std::uint8_t { last_counts, refused };

// One document and nothing beside it. INPUT_INVALID with the end of a sentence: "is not JSON", "is nested more than 64
// levels deep", "has the key \"x\" twice in one object".
// Also "holds more than 9 values" and "... objects and lists".
Result<nlohmann::json> parse_json(
    std::string_view text, RepeatedKeys repeated = RepeatedKeys::last_counts, const JsonLimits& limits = {});

}  // namespace guard
