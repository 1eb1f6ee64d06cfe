// What the texts of a night for a terminal have in common.
#pragma once

#include <string>
#include <string_view>

#include "nightly/report/report.h"

namespace guard::nightly {

inline constexpr std::string_view kRed = "31", kGreen = "32", kYellow = "33", kCyan = "36", kBold = "1", kDim = "2";

// `text` must be harmless already.
class Painter {
 public:
  explicit Painter(ReportColour colour) : on_(colour == ReportColour::on) {}
  std::string operator()(std::string_view style, std::string_view text) const {
    return on_ ? "\x1b[" + std::string(style) + "m" + std::string(text) + "\x1b[0m" : std::string(text);
  }

 private:
  bool on_;
};

std::string_view style_of(TaskState state);

// Foreign words on one line: made harmless, and cut between characters.
std::string shown(std::string_view text);

}  // namespace guard::nightly
