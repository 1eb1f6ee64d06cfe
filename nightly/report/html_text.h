// Foreign words in a page: whatever they hold, they are words when they are shown.
#pragma once

#include <string>
#include <string_view>

namespace guard::nightly {

// One line, for text and for attributes in double quotes: control characters, direction controls and bytes that are no
// UTF-8 are spelled out (common/text/text.h), markup is escaped.
std::string html(std::string_view text);

// The same with line ends kept, for <pre>.
std::string html_lines(std::string_view text);

// Whole lines of at most `bytes_max`; `cut`: whether something is missing. A line longer than that is cut between
// characters.
std::string_view first_lines(std::string_view text, std::size_t bytes_max, bool& cut);

}  // namespace guard::nightly
