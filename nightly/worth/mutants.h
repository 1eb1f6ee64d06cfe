// Broken versions of a script, each changed in one place: what a test has to notice to be worth something.
//
// No parser stands behind them: a place is taken where the tokens around it leave no other reading, types and imports
// are left out as far as they can be told, and a version that does not even load proves nothing and is dropped by
// whoever runs it. Pure functions: the same bytes give the same mutants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/report/line_coverage.h"
namespace guard::nightly {

enum class MutantKind : std::uint8_t {
  result,
  comparison,
  condition,
  arithmetic,
  logic,
  negation,
  number,
  boolean,
  text
};

struct TextMutant {
  MutantKind kind = MutantKind::result;
  std::uint32_t begin = 0;  // bytes that are replaced
  std::uint32_t end = 0;
  std::string with;
  std::uint32_t line = 1;
  std::string what;  // "`<` became `>=`"; of the script's own bytes it holds numbers and operators alone
};

// At most `max`, those on the lines of `first` before all others, spread over the kinds and over the script. Empty for
// what is no script.
std::vector<TextMutant> mutants_of(
    std::string_view path, std::string_view bytes, std::size_t max, const LineHits& first = {});

std::string mutated(std::string_view bytes, const TextMutant& mutant);

}  // namespace guard::nightly
