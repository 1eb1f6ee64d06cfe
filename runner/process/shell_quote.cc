#include "runner/process/shell_quote.h"

namespace guard {

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += shell_quoted(word);
  }
  return line;
}

}  // namespace guard
