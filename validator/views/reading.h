// What a match reads as, where the file spells it in another way: the folded string, the call behind another name.
//
// A finding in `"/pr" + "oc/self/environ"` points at a text in which no rule's words stand. The reading says what guard
// took it for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "rules/rule.h"

namespace guard {

// The bytes around a span of a view that a Reading keeps, so that a secret can be recognized that the span cuts.
constexpr std::size_t kReadingContextBytes = 512;
// Of the span itself.
constexpr std::size_t kReadingBytesMax = 512;

// `text` is a piece of the view, secrets in it NOT yet masked; [begin, end) of it is what matched. Empty where the
// source says the same.
struct Reading {
  std::string text;
  std::size_t begin = 0;
  std::size_t end = 0;

  bool empty() const noexcept { return text.empty(); }
};

// The reading of [begin, end) of `view_text`, which came from `source`.
Reading reading_of(View view, std::string_view view_text, std::size_t begin, std::size_t end, std::string_view source);

// As people write it: callee("text") for an entry of the strings view, <?> for what is unknown, blanks between the
// parts of other entries; printable.
std::string shown_reading(std::string_view text);

}  // namespace guard
