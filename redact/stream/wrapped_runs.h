// Finds base64 that was broken into lines: three or more lines of the same width, 40 to 100 bytes, with nothing on them
// but the alphabet, each with upper case, lower case and digits (so lists of hashes are none), and the shorter line
// that may end them. Behind up to 16 blanks. Hidden from the first byte to the last, with the line ends in between.
//
// Not in an armour: what stands between a line that ends in -----BEGIN ...----- and the first line that is no body is
// public, or hidden as a PEM key. Held back are at most two lines that could begin a block.
#pragma once

#include <vector>

#include "redact/kinds/byte_set.h"
#include "redact/stream/stream_text.h"

namespace guard {

class WrappedRuns {
 public:
  WrappedRuns(const ByteSet& chars, const ByteSet& pad, std::uint32_t marker)
      : chars_(chars), pad_(pad), marker_(marker) {}

  void advance(const StreamText& text, std::vector<SecretSpan>& spans);
  // Every span that begins before this has been reported.
  Offset frontier() const noexcept { return frontier_; }
  // Where lines begin that may become a block, or go on with one; the text's end if there are none. After advance().
  Offset live_from(const StreamText& text) const;
  std::uint32_t marker() const noexcept { return marker_; }

 private:
  static constexpr std::size_t kLinesMin = 3;
  static constexpr Offset kWidthMin = 40;
  static constexpr Offset kWidthMax = 100;
  static constexpr Offset kBlanksMax = 16;

  bool take_line(const StreamText& text, std::vector<SecretSpan>& spans);
  void hide(Offset end, std::vector<SecretSpan>& spans);
  bool stays_in_armour(std::string_view line) const;

  ByteSet chars_;
  ByteSet pad_;
  std::uint32_t marker_;
  Offset at_ = 0;          // of the line to be looked at, or of what is left to be skipped of it
  bool skipping_ = false;  // the rest of a line that is none of ours
  bool armour_ = false;
  std::size_t lines_ = 0;  // full ones in a row
  Offset width_ = 0;
  Offset block_ = 0;   // begins here; or, once there are kLinesMin lines, hidden up to here
  bool told_ = false;  // the block's first lines have been reported
  Offset frontier_ = 0;
};

}  // namespace guard
