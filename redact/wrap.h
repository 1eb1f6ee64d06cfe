// A token that a terminal, a pretty-printer or a mail program broke at a column.
//
// A line of kWrapLineBytes or more that ends in a secret (its prefix and enough behind it to be one) is held until the
// first bytes of the next line tell: the secret goes on there, behind up to kWrapBlanksMax blanks, if what follows is
// of its alphabet and either looks like no word and no date (eight or more bytes with a digit and three changes between
// upper case, lower case and digits), or is a line of its own, as wide as the piece before it (shorter with a digit, where
// that is a line of its own, too).
// Then the line end is hidden with it. Everything else leaves at once.
//
// A secret that was broken so early that its first part is none yet is not found; nor is a last part of fewer than
// eight bytes.
#pragma once

#include "redact/byte_set.h"
#include "redact/stream_text.h"

namespace guard {

inline constexpr std::size_t kWrapLineBytes = 8;
inline constexpr std::size_t kWrapBlanksMax = 16;
inline constexpr std::size_t kWrapLookBytes = 64;

// Eight or more bytes that are neither a word nor a date.
bool looks_generated(std::string_view text);

enum class Wrap : std::uint8_t { no, undecided, yes };

// Does a token of the bytes in `tail`, that ends at `at`, go on on the next line? `next` is set to where.
Wrap wrap_at(const StreamText& text, Offset at, const ByteSet& tail, Offset& next);

}  // namespace guard
