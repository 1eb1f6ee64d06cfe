#include "nightly/worth/lcov.h"

#include "pipeline/report/line_coverage.h"

namespace guard::nightly {
CoveredLines covered_lines(std::string_view report, const std::map<std::string, std::uint32_t>& line_counts) {
  CoveredLines covered;
  const LineCoverage coverage = parse_lcov(report, [&](const std::string& file) {
    const auto found = line_counts.find(file);
    return found == line_counts.end() ? 0u : found->second;
  });
  for (const auto& [file, lines] : coverage) {
    for (const auto& [line, ran] : lines) {
      if (ran) covered[file].insert(line);
    }
  }
  return covered;
}

std::uint64_t count_lines(const CoveredLines& lines) {
  std::uint64_t count = 0;
  for (const auto& [file, numbers] : lines) count += numbers.size();
  return count;
}

std::uint64_t count_new_lines(const CoveredLines& lines, const CoveredLines& known) {
  std::uint64_t count = 0;
  for (const auto& [file, numbers] : lines) {
    const auto found = known.find(file);
    for (const std::uint32_t number : numbers)
      count += found == known.end() || found->second.count(number) == 0 ? 1 : 0;
  }
  return count;
}

}  // namespace guard::nightly
