// Help texts and files, line by line.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace guard {

// The lines of `text`, without their line feeds.
inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace guard
