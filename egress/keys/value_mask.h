// Hides values in a stream: each byte of one becomes a *, so that lengths stay true.
//
// A value is found however the stream is cut. So many bytes as the longest value has, less one, are always held back,
// whatever they are: who can choose what a server repeats would else see from what comes, and when, how much of a
// guess was right. How long it takes says nothing either: each place of the stream costs the same for each length of a
// value, by a rolling hash (Karp and Rabin, IBM J. Res. Dev. 31(2), 1987) whose base is drawn anew by each process.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace guard {

// What streams are masked for, of all streams that refer to it: it may change while they run.
class HiddenValues {
 public:
  explicit HiddenValues(std::vector<std::string> values = {});  // empty ones are left out

  struct OfLength {
    std::vector<std::string> values;
    std::vector<std::uint64_t> hashes;  // of the values, as many
    std::uint64_t power = 1;            // of the base, to the length
  };
  const std::map<std::size_t, OfLength>& by_length() const noexcept { return by_length_; }
  std::size_t held_back() const noexcept { return held_back_; }

 private:
  std::map<std::size_t, OfLength> by_length_;
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
  std::string held_;                   // as it came
  std::string held_masked_;            // the same bytes, without the values that end in them
  std::vector<std::uint64_t> hashes_;  // of what is held, up to each byte of it
};

// All of `text`.
std::string masked_text(std::string_view text, const HiddenValues& hidden);

}  // namespace guard
