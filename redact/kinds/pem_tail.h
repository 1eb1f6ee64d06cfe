// Follows a PEM private key from its BEGIN line to its end, in any of the ways in which programs print one: line by
// line with either line end, indented, behind a gutter (`12 | `), quoted and joined, or on one line with `\n` written
// out.
//
// Each line is judged by itself, on its first 256 bytes: the END marker closes the key (a key of another type's END
// too); a line that can't be a body ends it before that line; the end of the stream ends it behind what is body.
// Nothing proves that a body is a key, so at most kPemBytesMax of body-shaped lines are hidden, then output is shown
// again.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/result.h"
#include "redact/stream/stream_text.h"

namespace guard {

inline constexpr Offset kPemBytesMax = 16384;

class PemTail {
 public:
  // What follows a BEGIN marker that was found at `begin` and ends at `header_end`. `rest`: the decision window from
  // header_end on; `open`: the line goes on behind it. Not active() where no key follows: prose, or code that looks for
  // the marker.
  static Result<PemTail> open(Offset begin, Offset header_end, std::string_view rest, bool open);

  // Goes on as far as `text` allows a decision. end() has grown then.
  Result<void> advance(const StreamText& text);

  bool active() const noexcept { return mode_ != Mode::done; }
  // Hidden up to here so far; while active(), what follows is undecided.
  Offset end() const noexcept { return end_; }

 private:
  enum class Mode : std::uint8_t { done, lines, one_line };
  Result<bool> advance_line(const StreamText& text);
  Result<bool> advance_on_line(const StreamText& text);

  Mode mode_ = Mode::done;
  Offset begin_ = 0;
  Offset end_ = 0;  // lines: at the line end before the next line, or the end of the stream
};

}  // namespace guard
