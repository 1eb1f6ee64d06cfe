// Which lines ran, as bun's lcov report says. What the tests print and write can forge it, so it is information and
// never a proof: whatever cannot be read is left out, and nothing but known names and numbers is passed on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace guard {

using LineHits = std::map<std::uint32_t, bool>;  // line, from 1 -> whether it ran; lines without code are not in it
using LineCoverage = std::map<std::string, LineHits>;  // "src/add.ts" -> its lines

// `lines_max`: how many lines a file has, of those that may be told of; 0: not this file.
LineCoverage parse_lcov(
    std::string_view report, const std::function<std::uint32_t(const std::string& file)>& lines_max);

std::uint64_t count_covered(const LineHits& lines);

// Those of `lines` that `known` does not have, whether they ran or not.
std::uint64_t count_lines(const LineCoverage& lines, const LineCoverage& known = {});

// Lines that did not run, as ranges; a line without code does not part two of them.
std::vector<std::pair<std::uint32_t, std::uint32_t>> uncovered_ranges(const LineHits& lines);

// For other tools; parse_lcov() reads it again.
std::string lcov_text(const LineCoverage& coverage);

}  // namespace guard
