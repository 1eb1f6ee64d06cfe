#include "nightly/report/escapes.h"

#include <algorithm>

#include "common/text/text.h"

namespace guard::nightly {
namespace {

constexpr std::size_t kCellBytesMax = 160;
constexpr std::size_t kLineBytesMax = 300;  // some lines of a terminal

std::string without_markup(std::string_view text) {
  std::string out(text);
  static constexpr std::pair<std::string_view, std::string_view> kWritten[] = {
      {"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}};
  for (const auto& [sign, written] : kWritten) out = replaced(std::move(out), sign, written);
  return out;
}

// Whether a character needs a backslash: it means something in Markdown, or makes a link of a bare address.
bool is_special(std::string_view line, std::size_t at) {
  const char c = line[at];
  if (std::string_view("\\`*_[]|~$").find(c) != std::string_view::npos) return true;
  if (c == ':') return at + 1 < line.size() && line[at + 1] != ' ';
  if (c == '.') return at > 0 && (line[at - 1] == 'w' || line[at - 1] == 'W');
  return at == 0 && std::string_view("-+=!").find(c) != std::string_view::npos;
}

}  // namespace

std::string html(std::string_view text) { return without_markup(printable(text)); }
std::string html_lines(std::string_view text) { return without_markup(printable_lines(text)); }

std::string markdown(std::string_view text) {
  std::string out;
  const std::string line = printable(text);
  for (std::size_t i = 0; i < line.size(); ++i) {
    switch (line[i]) {
      case '<': out += "&lt;"; continue;
      case '>': out += "&gt;"; continue;
      case '&': out += "&amp;"; continue;
      case '@': out += "@&#8203;"; continue;
      case '#': out += "\\#&#8203;"; continue;
      case '\t': out += ' '; continue;
      default: break;
    }
    if (is_special(line, i)) out += '\\';
    out += line[i];
  }
  return out;
}

std::string markdown_cell(std::string_view text) {
  // Cut before it is escaped: a cut escape would be markup.
  return markdown(cut_text(text, kCellBytesMax, " …"));
}

std::string terminal_line(std::string_view text) {
  // What is not shown need not be made harmless; a character may become ten.
  return cut_text(printable(text.substr(0, 2 * kLineBytesMax)), kLineBytesMax, " ...");
}

std::string_view first_lines(std::string_view text, std::size_t bytes_max, bool& cut) {
  cut = text.size() > bytes_max;
  if (!cut) return text;
  if (const std::size_t line = text.substr(0, bytes_max).rfind('\n'); line != std::string_view::npos)
    return text.substr(0, line + 1);
  return text.substr(0, cut_text(text, bytes_max, "").size());
}

std::string_view colour_of(TaskState state) {
  if (state == TaskState::accepted) return kGreen;
  return state == TaskState::refused || state == TaskState::failed ? kRed : kYellow;
}

}  // namespace guard::nightly
