// line_column() for many offsets of one text: it reads from the beginning each time, this goes on where it stopped.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/text/text.h"

namespace guard {

class LineCounter {
 public:
  // `text` must outlive this.
  explicit LineCounter(std::string_view text) : text_(text) {}

  // Quick where offsets rise.
  LineColumn at(std::size_t offset) {
    if (offset < counted_to_) {
      counted_to_ = 0;
      counted_lines_ = 0;
    }
    // Go on from the beginning of the line that was reached last.
    LineColumn place = line_column(text_.substr(counted_to_), offset - counted_to_);
    const std::size_t line_begin = offset - (place.column - 1);
    place.line += counted_lines_;
    counted_lines_ = place.line - 1;
    counted_to_ = line_begin;
    return place;
  }

 private:
  std::string_view text_;
  std::size_t counted_to_ = 0;
  std::uint32_t counted_lines_ = 0;
};

}  // namespace guard
