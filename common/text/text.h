// Small text helpers: where an offset is, and how to show hostile bytes safely.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace guard {

struct LineColumn {
  std::uint32_t line = 1;    // 1-based; LF, CR LF and CR end a line
  std::uint32_t column = 1;  // 1-based, in bytes
};

// Linear in `offset`. An offset past the end answers the place just behind the last byte.
LineColumn line_column(std::string_view text, std::size_t offset);

// The line that holds `offset`, without its line end.
std::string_view line_at(std::string_view text, std::size_t offset);

bool is_utf8(std::string_view text) noexcept;

// For terminals and reports: control bytes, ESC, bidi controls and invalid UTF-8 become visible escapes (\x1b, \u202e);
// tabs stay. One line in, one line out: line ends are escaped too.
std::string printable(std::string_view bytes);

// The same of a text of several lines: its line feeds stay.
std::string printable_lines(std::string_view bytes);

// The pieces that `end` ends: the lines of a text, say. The last one may lack its end.
std::vector<std::string_view> pieces_of(std::string_view text, char end = '\n');

// At most `bytes_max`, cut between characters and followed by `sign` where something is missing.
std::string cut_text(std::string_view text, std::size_t bytes_max, std::string_view sign);

// Every `from` is `to` then.
std::string replaced(std::string text, std::string_view from, std::string_view to);

// A backslash before each byte that is one of `special`.
std::string backslashed(std::string_view text, std::string_view special);

// The number that `text` begins with, which is taken off. False: there is none, or it is too large.
template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return fault == std::errc();
}

// Whether `text` is a number, and nothing else.
template <typename Number>
bool read_number(std::string_view text, Number& number) {
  return take_number(text, number) && text.empty();
}

// "a, b and 3 more".
std::string listed(const std::vector<std::string>& names, std::size_t shown_max);

// "src/a.ts:12:3"; a number that is 0 is left out.
std::string place_text(std::string_view path, std::uint64_t line, std::uint64_t column = 0);

// As one word for a POSIX shell.
std::string shell_quoted(std::string_view text);

// "1 file", "2 files".
std::string plural(std::uint64_t count, std::string_view word);

// The text with the user and password of each URL in it hidden: "tcp://[REDACTED:url-userinfo]@host:2375". Errors and
// endpoints become text through here. A password may hold what a URL should escape: all up to the last @ of the word is
// hidden, unless the @ stands in the path (https://host/name@1.0).
std::string without_userinfo(std::string_view text);

// The same of text that is meant to be one URL, with or without a scheme: nothing before its last @ stays but the
// scheme.
std::string url_without_userinfo(std::string_view url);

// The nearest of `known` within two edits of `word`, or empty: "did you mean ...?".
std::string_view nearest_word(std::string_view word, const std::vector<std::string_view>& known);

// "2g", "500m", "64k", "81920" -> bytes. False on anything else, on overflow too.
bool parse_bytes(std::string_view text, std::uint64_t& bytes);

}  // namespace guard
