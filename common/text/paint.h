// Colours of a terminal.
#pragma once

#include <string>
#include <string_view>

namespace guard {

enum class Colour : bool { off, on };

inline constexpr std::string_view kRed = "31", kGreen = "32", kYellow = "33", kCyan = "36", kBold = "1", kDim = "2";

// Words in a style, where colours are on; they must be harmless already. No style: as they are.
struct Painter {
  Colour colour = Colour::off;

  std::string operator()(std::string_view style, std::string_view words) const {
    if (colour == Colour::off || style.empty()) return std::string(words);
    return std::string("\x1b[").append(style).append("m").append(words).append("\x1b[0m");
  }
};

}  // namespace guard
