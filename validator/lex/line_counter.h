// line_column() for many offsets of one text: it reads from the beginning each time, this goes on where it stopped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "common/text/text.h"
#include "validator/lex/byte_scan.h"

namespace guard {

class LineCounter {
 public:
  // `text` must outlive this.
  explicit LineCounter(std::string_view text) : text_(text) {}

  // Quick where offsets rise.
  LineColumn at(std::size_t offset) {
    offset = std::min(offset, text_.size());
    if (offset < counted_to_) *this = LineCounter(text_);
    const std::string_view before = text_.substr(0, offset);
    while ((counted_to_ = find_any_of<'\n', '\r'>(before, counted_to_)) < offset) {
      const bool is_half = text_[counted_to_] == '\r' && text_.substr(counted_to_ + 1, 1) == "\n";
      ++counted_to_;
      if (is_half) continue;
      ++line_;
      line_begin_ = counted_to_;
    }
    return {line_, static_cast<std::uint32_t>(std::min<std::size_t>(offset - line_begin_ + 1, UINT32_MAX))};
  }

 private:
  std::string_view text_;
  std::size_t counted_to_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace guard
