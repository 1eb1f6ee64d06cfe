#include "nightly/lcov.h"

#include <algorithm>
#include <charconv>

namespace guard::nightly {
namespace {

bool take_number(std::string_view& text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

CoveredLines covered_lines(std::string_view report, const std::map<std::string, std::uint32_t>& line_counts) {
  CoveredLines covered;
  auto file = line_counts.end();
  for (std::size_t begin = 0; begin < report.size();) {
    const std::size_t end = std::min(report.find('\n', begin), report.size());
    std::string_view line = report.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("SF:")) {
      file = line_counts.find(std::string(line.substr(3)));
    } else if (line == "end_of_record") {
      file = line_counts.end();
    } else if (line.starts_with("DA:") && file != line_counts.end()) {
      line.remove_prefix(3);
      std::uint64_t number = 0;
      std::uint64_t times = 0;
      if (!take_number(line, number) || !line.starts_with(',')) continue;
      line.remove_prefix(1);
      if (!take_number(line, times) || !line.empty() || times == 0 || number == 0 || number > file->second) continue;
      covered[file->first].insert(static_cast<std::uint32_t>(number));
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
    for (const std::uint32_t number : numbers) count += found == known.end() || found->second.count(number) == 0 ? 1 : 0;
  }
  return count;
}

}  // namespace guard::nightly
