// Hides values in a stream: each byte of one becomes a *, so that lengths stay true.
//
// A value is found however the stream is cut. What may be the beginning of one is held back, unless it has three bytes
// or less: a reader would else wait for the end of a text that happens to end as a value begins.
//
// Not thread-safe: one per stream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace guard {

class ValueMask {
 public:
  // Empty values are left out.
  explicit ValueMask(std::vector<std::string> values = {});

  std::string push(std::string_view bytes);
  std::string finish();  // what is held back, as *: it is the beginning of a value that was cut off

 private:
  std::vector<std::string> values_;
  std::string carry_;         // may be the beginning of a value
  std::string carry_masked_;  // the same bytes, without the values that end in them
  std::size_t let_out_ = 0;   // of them
};

}  // namespace guard
