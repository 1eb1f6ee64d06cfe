// Finds where one of many short literals may begin.
//
// Every literal has at least three bytes, so of any two neighbouring places one is the start of its first or of its
// second pair of bytes: looking at every other pair in a table of 65,536 bits misses nothing and reads each byte once.
// What the table lets through is compared in full.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redact/stream_text.h"

namespace guard {

struct Trigger {
  std::string literal;
  bool fold_case = false;    // the literal is in lower case then
  bool known_value = false;  // the literal is the secret itself; else it makes a candidate of `kind`
  std::uint32_t kind = 0;
};

enum class Seen : std::uint8_t { no, partly, fully };

class TriggerTable {
 public:
  TriggerTable();
  void add(Trigger trigger);

  // The first offset from `from` on where a trigger may begin; text.end() where there is none. Near the end of the text
  // every offset counts, because a trigger may go on in what follows.
  Offset next(const StreamText& text, Offset from) const;

  // Those whose first byte is `first`.
  const std::vector<Trigger>& beginning_with(char first) const { return by_first_[static_cast<unsigned char>(first)]; }

  // Does `trigger` stand at the beginning of `text`? `partly`: as far as the text goes.
  static Seen seen(const Trigger& trigger, std::string_view text);

 private:
  using Pairs = std::bitset<65536>;
  std::array<std::vector<Trigger>, 256> by_first_;
  std::unique_ptr<Pairs> pairs_;  // first and second pairs
};

}  // namespace guard
