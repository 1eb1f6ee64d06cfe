// The value that JSON.parse gives for a constant text.
#pragma once

#include <string_view>

#include "validator/values/constant_folder.h"

namespace guard {

// Objects, lists, texts and whole numbers; true, false, null and what is cut off by a limit are unknown. Unknown as a
// whole if `text` is no JSON, longer than kTextMax, or nested too deep. Linear in `text`.
Value parse_json_value(std::string_view text, ValueLists& lists, Arena& arena);

}  // namespace guard
