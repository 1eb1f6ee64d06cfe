#include "validator/snippet.h"

#include <algorithm>

#include "common/text/text.h"

namespace guard {
namespace {

constexpr std::size_t kBefore = 60;  // bytes of the line shown in front of the span, when it has to be cut

bool continues_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

Snippet make_snippet(std::string_view text, std::size_t begin, std::size_t end) {
  begin = std::min(begin, text.size());
  // As much of the line as can be shown: a bundle is one line, and has many findings.
  constexpr std::size_t kAround = 2 * kSnippetBytesMax;
  const std::size_t from = begin - std::min(begin, kAround);
  const std::string_view line = line_at(text.substr(from, 2 * kAround), begin - from);
  if (line.data() == nullptr) return {};
  const std::size_t line_begin = static_cast<std::size_t>(line.data() - text.data());
  const std::size_t at = std::min(begin - std::min(begin, line_begin), line.size());
  const std::size_t stop = std::clamp(end - std::min(end, line_begin), at, line.size());

  std::size_t first = 0;
  std::size_t last = line.size();
  if (line.size() > kSnippetBytesMax) {
    first = at > kBefore ? at - kBefore : 0;
    last = std::min(line.size(), first + kSnippetBytesMax);
    if (last - first < kSnippetBytesMax) first = last - kSnippetBytesMax;
    while (first > 0 && continues_character(line[first])) --first;
    while (last < line.size() && continues_character(line[last])) ++last;
  }
  const std::size_t shown_stop = std::min(stop, last);
  Snippet snippet;
  snippet.excerpt = first > 0 ? "..." : "";
  // Escaped piece by piece, so that the caret counts what is really shown.
  snippet.excerpt += printable(line.substr(first, at - first));
  snippet.caret = static_cast<std::uint32_t>(snippet.excerpt.size());
  const std::string marked = printable(line.substr(at, shown_stop - at));
  snippet.excerpt += marked;
  snippet.excerpt += printable(line.substr(shown_stop, last - shown_stop));
  if (last < line.size()) snippet.excerpt += "...";
  snippet.caret_width = static_cast<std::uint32_t>(marked.size());
  if (snippet.caret_width == 0 && !snippet.excerpt.empty()) snippet.caret_width = 1;
  return snippet;
}

}  // namespace guard
