// Hides values in a stream: each byte of one becomes a *, so that lengths stay true.
//
// A value is found however the stream is cut. So many bytes as the longest value has, less one, are always held back,
// whatever they are: who can choose what a server repeats would else see from what comes, and when, how much of a
// guess was right.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace guard {

// What streams are masked for, of all streams that refer to it: it may change while they run.
class HiddenValues {
 public:
  explicit HiddenValues(std::vector<std::string> values = {});  // empty ones are left out

  const std::vector<std::string>& values() const noexcept { return values_; }
  std::size_t held_back() const noexcept { return held_back_; }

 private:
  std::vector<std::string> values_;
  std::size_t held_back_ = 0;
};

// One per stream. `hidden` must outlive it.
class ValueMask {
 public:
  explicit ValueMask(const HiddenValues& hidden) : hidden_(&hidden) {}

  std::string push(std::string_view bytes);
  // What is held back, of a stream that is whole. Of one that was cut it is never let out.
  std::string finish();

 private:
  const HiddenValues* hidden_;
  std::string held_;         // as it came
  std::string held_masked_;  // the same bytes, without the values that end in them
};

// All of `text`.
std::string masked_text(std::string_view text, const HiddenValues& hidden);

}  // namespace guard
