#include "pipeline/report/line_coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text/text.h"

namespace guard {

LineCoverage parse_lcov(
    std::string_view report, const std::function<std::uint32_t(const std::string& file)>& lines_max) {
  LineCoverage coverage;
  std::string file;
  std::uint32_t most = 0;
  for (std::string_view line : pieces_of(report)) {
    if (line.starts_with("SF:")) {
      file = line.substr(3);
      most = lines_max(file);
    } else if (line == "end_of_record") {
      most = 0;
    } else if (line.starts_with("DA:") && most > 0) {
      line.remove_prefix(3);
      std::uint64_t number = 0;
      std::uint64_t times = 0;
      if (!take_number(line, number) || !line.starts_with(',')) continue;
      line.remove_prefix(1);
      if (!take_number(line, times) || !line.empty() || number == 0 || number > most) continue;
      bool& ran = coverage[file][static_cast<std::uint32_t>(number)];
      ran = ran || times > 0;
    }
  }
  return coverage;
}

std::uint64_t count_covered(const LineHits& lines) {
  return static_cast<std::uint64_t>(
      std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.second; }));
}

std::uint64_t count_lines(const LineCoverage& lines, const LineCoverage& known) {
  std::uint64_t count = 0;
  for (const auto& [file, hits] : lines) {
    const auto found = known.find(file);
    count += hits.size();
    if (found == known.end()) continue;
    for (const auto& [line, ran] : hits) count -= found->second.count(line);
  }
  return count;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> uncovered_ranges(const LineHits& lines) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  bool open = false;
  for (const auto& [line, ran] : lines) {
    if (!ran && open) ranges.back().second = line;
    if (!ran && !open) ranges.emplace_back(line, line);
    open = !ran;
  }
  return ranges;
}

std::string lcov_text(const LineCoverage& coverage) {
  std::string text;
  for (const auto& [file, lines] : coverage) {
    text += fmt::format("TN:\nSF:{}\n", file);
    for (const auto& [line, ran] : lines) text += fmt::format("DA:{},{}\n", line, ran ? 1 : 0);
    text += fmt::format("LF:{}\nLH:{}\nend_of_record\n", lines.size(), count_covered(lines));
  }
  return text;
}

}  // namespace guard
