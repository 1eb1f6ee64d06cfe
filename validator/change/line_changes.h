// Which lines of a text are new, compared with the one before. Pure; time and memory are bounded, and where the two are
// too different to be compared exactly more lines count as new, never fewer.
#pragma once

#include <cstdint>
#include <string_view>

#include "validator/change/change_set.h"

namespace guard {

struct LineChanges {
  LineRanges added;
  std::uint64_t lines_added = 0;
  std::uint64_t lines_removed = 0;
};

LineChanges compare_lines(std::string_view before, std::string_view after);

// Fills in the lines of `file` from its bytes. Every line of what was no file before is new, and every line of what is
// none any more is removed.
void count_lines(ChangedFile& file);

}  // namespace guard
