// The line of a finding, cut to what fits on a screen and safe to print.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace guard {

constexpr std::size_t kSnippetBytesMax = 160;  // of the original line; escapes may make the excerpt longer

struct Snippet {
  std::string excerpt;            // printable(); "..." where the line was cut
  std::uint32_t caret = 0;        // where the span begins in the excerpt
  std::uint32_t caret_width = 0;  // at least 1 unless the excerpt is empty; stays on the line
};

// The first line of the span [begin, end) of `text`.
Snippet make_snippet(std::string_view text, std::size_t begin, std::size_t end);

}  // namespace guard
