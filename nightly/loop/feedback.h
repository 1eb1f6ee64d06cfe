// What a generator is told about its last attempt: what was wrong, and what to do instead. Plain text, one page at
// most. Pure.
#pragma once

#include <string>
#include <string_view>

#include "nightly/loop/night_values.h"

namespace guard::nightly {

inline constexpr std::size_t kFeedbackBytesMax = 16 * 1024;

// `attempt`: refused or failed, with its findings. `output`: of its tests, or of a generator that failed; masked; its
// end is shown.
std::string feedback_of(const Attempt& attempt, std::string_view output);

// The standard input of an attempt: the project's brief (pipeline/report/brief.h) if there is one, the task below a
// heading, and what was wrong with the last attempt.
std::string prompt_with(std::string_view brief, std::string_view prompt, std::string_view feedback);

}  // namespace guard::nightly
