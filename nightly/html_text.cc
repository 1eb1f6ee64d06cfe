#include "nightly/html_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"

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

bool leads_out(std::string_view path) {
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (path.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

std::string percent_encoded(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string_view("/._-~").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out;
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

std::string file_link(std::string_view folder, std::string_view file) {
  if (file.empty() || file[0] == '/' || file.find('\0') != std::string_view::npos || leads_out(file)) return {};
  // An absolute folder is a path of the page's own kind (file:); two slashes would name a host.
  while (folder.starts_with("//")) folder.remove_prefix(1);
  while (folder.ends_with('/')) folder.remove_suffix(1);
  if (folder.empty() || folder == ".") return "./" + percent_encoded(file);
  return (folder[0] == '/' ? "" : "./") + percent_encoded(folder) + "/" + percent_encoded(file);
}

std::string_view first_lines(std::string_view text, std::size_t bytes_max, bool& cut) {
  cut = text.size() > bytes_max;
  if (!cut) return text;
  if (const std::size_t line = text.substr(0, bytes_max).rfind('\n'); line != std::string_view::npos) return text.substr(0, line + 1);
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace guard::nightly
