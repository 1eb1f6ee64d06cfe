#include "runner/process/shell_quote.h"

namespace guard {

// All words are quoted, plain ones too: what needs no quotes differs between shells, and nobody has to know it here.
std::string shell_quoted(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += shell_quoted(word);
  }
  return line;
}

}  // namespace guard
