// What guard is doing right now: one rewritten line on a terminal, plain lines elsewhere, nothing when told to be quiet.
#pragma once

#include <string_view>

#include "cli/streams.h"

namespace guard {

class Progress {
 public:
  enum class Mode : std::uint8_t { quiet, lines, rewritten };
  Progress(OutStream& err, Mode mode) : err_(err), mode_(mode) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(std::string_view what);
  // Takes the rewritten line away, before anything else is printed.
  void clear();

 private:
  OutStream& err_;
  Mode mode_;
  bool shown_ = false;
};

}  // namespace guard
