// Finds long runs of one alphabet, such as base64 of more than 100 characters.
//
// A run of `min` bytes covers one of any `min` neighbouring places, so only every min-th place is looked at until one
// is in the alphabet. Held back is at most the beginning of a run that is still too short.
#pragma once

#include <vector>

#include "redact/byte_scan.h"
#include "redact/secret_kind.h"
#include "redact/stream_text.h"

namespace guard {

class RunFinder {
 public:
  // `kind` is a Machine::run kind and must outlive the finder; its spans are reported as `marker`.
  RunFinder(const SecretKind& kind, std::uint32_t marker) : kind_(&kind), scan_(kind.run_chars), marker_(marker) {}

  std::uint32_t marker() const noexcept { return marker_; }
  void advance(const StreamText& text, std::vector<SecretSpan>& spans);
  // Every span that begins before this has been reported.
  Offset frontier() const noexcept { return begin_; }
  // Where a run that is still too short begins, if one touches the end of the text; else its end. After advance().
  Offset live_from(const StreamText& text) const noexcept { return state_ == State::searching ? begin_ : text.end(); }

 private:
  enum class State : std::uint8_t { searching, inside, padding };
  bool search(const StreamText& text);
  // The first need that no byte of the `min` from begin_ on meets; nullptr if all are met.
  const ByteSet* missing_need(const StreamText& text) const;

  const SecretKind* kind_;
  ByteScan scan_;
  std::uint32_t marker_;
  State state_ = State::searching;
  Offset begin_ = 0;         // searching: no secret begins before this; else: hidden up to here
  Offset in_run_until_ = 0;  // bytes from begin_ to here are known to be in the alphabet
  std::size_t padding_left_ = 0;
  bool told_ = false;  // inside: the beginning of the run has been reported
};

}  // namespace guard
