// Finds long runs of one alphabet, such as base64 of more than 100 characters.
//
// What makes a run long has to stand on one line: runs in lines are the matter of wrapped_runs.h.
//
// Held back is at most the beginning of a run that is still too short.
#pragma once

#include <vector>

#include "redact/kinds/secret_kind.h"
#include "redact/stream/stream_text.h"

namespace guard {

class RunFinder {
 public:
  // `kind` is a Machine::run kind and must outlive the finder; its spans are reported as `marker`.
  RunFinder(const SecretKind& kind, std::uint32_t marker) : kind_(&kind), marker_(marker) {}

  std::uint32_t marker() const noexcept { return marker_; }
  void advance(const StreamText& text, const OuterMask* outer, std::vector<SecretSpan>& spans);
  // Every span that begins before this has been reported.
  Offset frontier() const noexcept { return begin_; }
  // Where a run that is still too short begins, if one touches the end of the text; else its end. After advance().
  Offset live_from(const StreamText& text) const noexcept { return state_ == State::searching ? begin_ : text.end(); }

 private:
  enum class State : std::uint8_t { searching, inside, padding };
  bool search(const StreamText& text, const OuterMask* outer);

  const SecretKind* kind_;
  std::uint32_t marker_;
  State state_ = State::searching;
  Offset begin_ = 0;         // searching: no secret begins before this; else: hidden up to here
  Offset in_run_until_ = 0;  // bytes from begin_ to here are known to be in the alphabet
  std::size_t padding_left_ = 0;
  bool told_ = false;  // inside: the beginning of the run has been reported
};

}  // namespace guard
