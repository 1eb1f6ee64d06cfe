#include "nightly/report/html_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text/text.h"

namespace guard::nightly {
namespace {

void append_escaped(std::string& out, std::string_view line) {
  for (const char c : line) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
}

}  // namespace

std::string html(std::string_view text) {
  std::string out;
  append_escaped(out, printable(text));
  return out;
}

std::string html_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    append_escaped(out, printable(text.substr(0, end)));
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string_view first_lines(std::string_view text, std::size_t bytes_max, bool& cut) {
  cut = text.size() > bytes_max;
  if (!cut) return text;
  if (const std::size_t line = text.substr(0, bytes_max).rfind('\n'); line != std::string_view::npos)
    return text.substr(0, line + 1);
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace guard::nightly
