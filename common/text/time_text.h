// Spans of time as people write them.
#pragma once

#include <string>
#include <string_view>

#include "common/time.h"

namespace guard {

// "90" and "90s" are seconds, as is "2.5s"; "100ms". False on anything else: on what is not a whole number of
// milliseconds, too.
bool parse_time(std::string_view text, milliseconds& time);

// "300 s", "2.5 s"; below a second "100 ms".
std::string time_text(milliseconds time);

}  // namespace guard
