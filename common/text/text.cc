#include "common/text/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "common/text/characters.h"

namespace guard {
namespace {

// What would change how a terminal or an editor shows the text around it.
bool is_unsafe(char32_t point) noexcept {
  return (point < 0x20 && point != '\t') || (point >= 0x7F && point <= 0x9F) ||  // C0, DEL, C1
      point == 0x061C || (point >= 0x200B && point <= 0x200F) ||                 // zero width, bidi marks
      (point >= 0x2028 && point <= 0x202E) || (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF ||
      (point >= 0xFFF9 && point <= 0xFFFB) || (point >= 0xE0000 && point <= 0xE007F);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

LineColumn line_column(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  LineColumn place;
  std::size_t line_start = 0;
  for (std::size_t i = 0; i < offset; ++i) {
    const bool ends_line = text[i] == '\n' || (text[i] == '\r' && (i + 1 >= text.size() || text[i + 1] != '\n'));
    if (ends_line) {
      ++place.line;
      line_start = i + 1;
    }
  }
  place.column = static_cast<std::uint32_t>(
      std::min<std::size_t>(offset - line_start + 1, std::numeric_limits<std::uint32_t>::max()));
  return place;
}

std::string_view line_at(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  std::size_t begin = offset;
  while (begin > 0 && text[begin - 1] != '\n' && text[begin - 1] != '\r') --begin;
  std::size_t end = offset;
  while (end < text.size() && text[end] != '\n' && text[end] != '\r') ++end;
  return text.substr(begin, end - begin);
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    std::uint64_t eight = 0;
    if (text.size() >= sizeof eight) {
      std::memcpy(&eight, text.data(), sizeof eight);
      if ((eight & 0x8080'8080'8080'8080) == 0) {
        text.remove_prefix(sizeof eight);
        continue;
      }
    }
    char32_t point = 0;
    const std::size_t length = decode_utf8(text, point);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// A host, and no more than a port behind it: else a user and a password stand there, with a forgotten or an escaped
// '@'.
static bool is_host_and_port(std::string_view authority) {
  const std::size_t colon = authority.find(':');
  return authority.starts_with('[') || colon == std::string_view::npos ||
      authority.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

std::string url_without_userinfo(std::string_view url) {
  const std::size_t at = url.rfind('@');
  if (at == std::string_view::npos) {
    const std::size_t scheme = url.find("://");
    const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
    const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
    if (is_host_and_port(url.substr(begin, end - begin))) return std::string(url);
    return fmt::format("{}[REDACTED:url-userinfo]{}", url.substr(0, begin), url.substr(end));
  }
  // What is no scheme's name may be a user's and a password.
  constexpr std::string_view kScheme = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-";
  const std::size_t scheme = url.substr(0, at).find("://");
  const bool is_scheme = scheme != std::string_view::npos && url.find_first_not_of(kScheme) == scheme;
  return fmt::format("{}[REDACTED:url-userinfo]{}", is_scheme ? url.substr(0, scheme + 3) : "", url.substr(at));
}

std::string printable_lines(std::string_view bytes) {
  std::string shown;
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    shown += printable(bytes.substr(0, end)) + "\n";
    bytes.remove_prefix(end + 1);
  }
  return shown + printable(bytes);
}

std::vector<std::string_view> pieces_of(std::string_view text, char end) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(end), text.size());
    pieces.push_back(text.substr(0, at));
    text.remove_prefix(std::min(at + 1, text.size()));
  }
  return pieces;
}

std::string backslashed(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string cut_text(std::string_view text, std::size_t bytes_max, std::string_view sign) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)).append(sign);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string listed(const std::vector<std::string>& names, std::size_t shown_max) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), shown_max));
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  return names.size() > shown_max ? fmt::format("{} and {} more", text, names.size() - shown_max) : text;
}

std::string place_text(std::string_view path, std::uint64_t line, std::uint64_t column) {
  std::string text(path);
  if (line > 0) text += fmt::format(":{}", line);
  if (column > 0) text += fmt::format(":{}", column);
  return text;
}

std::string shell_quoted(std::string_view text) { return "'" + replaced(std::string(text), "'", "'\\''") + "'"; }

std::string plural(std::uint64_t count, std::string_view word) {
  return std::to_string(count) + " " + std::string(word) + (count == 1 ? "" : "s");
}

std::string without_userinfo(std::string_view text) {
  constexpr std::string_view kBehindWord = " \t\r\n\"'`<>";
  std::string shown;
  for (std::size_t scheme = text.find("://"); scheme != std::string_view::npos; scheme = text.find("://")) {
    const std::size_t begin = scheme + 3;
    const std::string_view word = text.substr(begin, text.substr(begin).find_first_of(kBehindWord));
    const std::string_view authority = word.substr(0, word.find_first_of("/?#"));
    const bool in_path = authority.find('@') == std::string_view::npos && is_host_and_port(authority);
    shown += text.substr(0, begin);
    shown += in_path ? std::string(word) : url_without_userinfo(word);
    text.remove_prefix(begin + word.size());
  }
  return shown.append(text);
}

std::string printable(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    char32_t point = 0;
    const std::size_t length = decode_utf8(bytes, point);
    if (length == 0) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
      bytes.remove_prefix(1);
      continue;
    }
    if (!is_unsafe(point)) {
      text += bytes.substr(0, length);
    } else if (point == '\n') {
      text += "\\n";
    } else if (point == '\r') {
      text += "\\r";
    } else if (point < 0x100) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned>(point));
    } else {
      text += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(point));
    }
    bytes.remove_prefix(length);
  }
  return text;
}

std::string_view nearest_word(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t kLengthMax = 64;  // hostile words must not cost a square of their length
  constexpr std::size_t kEditsMax = 2;
  std::string_view best;
  std::size_t best_edits = kEditsMax + 1;
  if (word.size() > kLengthMax) return best;
  for (const std::string_view candidate : known) {
    if (candidate.size() > kLengthMax) continue;
    const std::size_t edits = edit_distance(word, candidate);
    // A word of three letters is two edits from nearly everything.
    if (edits < best_edits && edits * 2 < std::max(word.size(), candidate.size())) {
      best = candidate;
      best_edits = edits;
    }
  }
  return best;
}

bool parse_bytes(std::string_view text, std::uint64_t& bytes) {
  std::uint64_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'k':
      case 'K': unit = std::uint64_t{1} << 10; break;
      case 'm':
      case 'M': unit = std::uint64_t{1} << 20; break;
      case 'g':
      case 'G': unit = std::uint64_t{1} << 30; break;
      case 't':
      case 'T': unit = std::uint64_t{1} << 40; break;
      default: break;
    }
    if (unit != 1) text.remove_suffix(1);
  }
  if (text.empty()) return false;
  std::uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    if (__builtin_mul_overflow(number, std::uint64_t{10}, &number)) return false;
    if (__builtin_add_overflow(number, static_cast<std::uint64_t>(c - '0'), &number)) return false;
  }
  if (__builtin_mul_overflow(number, unit, &number)) return false;
  bytes = number;
  return true;
}

}  // namespace guard
