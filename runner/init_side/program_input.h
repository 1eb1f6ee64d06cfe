// What a program of a sandbox reads as its standard input: the bytes of a descriptor, a frame each time that init asks
// (runner/init_side/init_protocol.h). Not thread-safe; the descriptor must outlive it.
#pragma once

#include <optional>
#include <string>

#include "common/result.h"

namespace guard {

class ProgramInput final {
 public:
  explicit ProgramInput(int descriptor) : descriptor_(descriptor) {}

  // Init has asked, once.
  void wanted() noexcept { wanted_ = true; }

  // To be polled for reading; negative while init has not asked, and behind the end.
  int descriptor() const noexcept { return wanted_ && !ended_ ? descriptor_ : -1; }

  // Once it is readable: what goes to init, at most 32 KiB and so small that an empty pipe takes it whole. A frame
  // without bytes is the end; nothing: somebody else has read what was there. Never waits, but for a terminal or a
  // disk. IO_ERROR where it can't be read.
  Result<std::optional<std::string>> next_frame();

 private:
  int descriptor_;
  bool wanted_ = false;
  bool ended_ = false;
};

}  // namespace guard
