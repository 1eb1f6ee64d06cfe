// Foreign words in the forms of a report: whatever they hold, they are words when they are shown.
#pragma once

#include <string>
#include <string_view>

#include "common/text/text.h"
#include "nightly/report/report.h"

namespace guard::nightly {

// One line, for text and for attributes in double quotes: control characters, direction controls and bytes that are no
// UTF-8 are spelled out (common/text/text.h), markup is escaped. html_lines keeps line ends, for <pre>.
std::string html(std::string_view text);
std::string html_lines(std::string_view text);

// All that means something to Markdown is escaped: a code span would end at the backticks that it holds, in the readers
// that count them differently. "@" and "#" are kept from naming people and issues.
std::string markdown(std::string_view text);
std::string markdown_cell(std::string_view text);  // cut to what a table takes

// For a terminal: cut to some lines of it.
std::string terminal_line(std::string_view text);

// Whole lines of at most `bytes_max`; `cut`: whether something is missing. A line longer than that is cut between
// characters.
std::string_view first_lines(std::string_view text, std::size_t bytes_max, bool& cut);

// Calls line(kind, words) for each line of a unified diff.
enum class DiffLine : std::uint8_t { context, name, hunk, added, removed };
template <typename Line>
void for_each_diff_line(std::string_view diff, const Line& line) {
  bool in_head = true;  // until a hunk begins, "---" and "+++" are names
  for (const auto words : pieces_of(diff)) {
    in_head = (in_head || words.starts_with("diff ")) && !words.starts_with("@@");
    line(words.starts_with("@@")     ? DiffLine::hunk
            : in_head                ? DiffLine::name
            : words.starts_with("+") ? DiffLine::added
            : words.starts_with("-") ? DiffLine::removed
                                     : DiffLine::context,
        words);
  }
}

std::string_view colour_of(TaskState state);

}  // namespace guard::nightly
