#include "redact/stream/terminal_safety.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace guard {
namespace {

constexpr std::size_t kSliceBytes = 65536;
constexpr std::size_t kColourBytesMax = 48;  // ESC[38;2;255;255;255;48;2;255;255;255;1;4m and then some

enum class Seen { no, partly, fully };

// Is `text` a colour escape from its first byte on? `size` is set where it is.
Seen see_colour(std::string_view text, std::size_t& size) {
  if (text.size() < 2) return Seen::partly;
  if (text[1] != '[') return Seen::no;
  std::size_t i = 2;
  while (i < text.size() && ((text[i] >= '0' && text[i] <= '9') || text[i] == ';' || text[i] == ':')) ++i;
  if (i >= kColourBytesMax) return Seen::no;
  if (i == text.size()) return Seen::partly;
  size = i + 1;
  return text[i] == 'm' ? Seen::fully : Seen::no;
}

// True if one of the parameters is 8, "conceal". The numbers of extended colours (38;5;8) are none.
bool conceals(std::string_view parameters) {
  int skip = 0;
  bool extended = false;
  while (!parameters.empty()) {
    const std::size_t end = std::min(parameters.find(';'), parameters.size());
    std::string_view number = parameters.substr(0, end);
    const bool whole = number.find(':') != std::string_view::npos;  // 38:5:8 needs nothing that follows
    number = number.substr(0, number.find(':'));
    while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
    if (skip > 0) {
      --skip;
    } else if (extended) {
      skip = number == "5" ? 1 : number == "2" ? 3 : 0;
      if (skip == 0 && number == "8") return true;
      extended = false;
    } else if (number == "8") {
      return true;
    } else {
      extended = !whole && (number == "38" || number == "48" || number == "58");
    }
  }
  return false;
}

struct Character {
  std::size_t size = 0;  // 0: not all of it is there
  std::uint32_t code = 0;
};

// nullopt: the first byte begins no UTF-8 character.
std::optional<Character> decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return std::nullopt;
  std::uint32_t code = lead & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (i == text.size()) return Character{};
    unsigned low = 0x80;
    unsigned high = 0xbf;
    if (i == 1) {  // no overlong forms, no surrogates, nothing over U+10FFFF
      if (lead == 0xe0) low = 0xa0;
      if (lead == 0xed) high = 0x9f;
      if (lead == 0xf0) low = 0x90;
      if (lead == 0xf4) high = 0x8f;
    }
    if (byte(i) < low || byte(i) > high) return std::nullopt;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  return Character{size, code};
}

bool is_between(std::uint32_t code, std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; }

bool is_deceptive(std::uint32_t code) {
  return is_between(code, 0x80, 0x9f) || code == 0xad || code == 0x61c || code == 0x180e ||
      is_between(code, 0x200b, 0x200c) || is_between(code, 0x200e, 0x200f) || is_between(code, 0x2028, 0x202e) ||
      is_between(code, 0x2060, 0x206f) || code == 0xfeff || is_between(code, 0xfff9, 0xfffb) ||
      is_between(code, 0xe0000, 0xe007f);
}

bool joins_emoji(std::uint32_t code) { return code == 0x200d || is_between(code, 0xfe00, 0xfe0f); }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

Result<void> TerminalSafety::push(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const auto slice = bytes.first(std::min(bytes.size(), kSliceBytes));
    bytes = bytes.subspan(slice.size());
    carry_.append(slice.data(), slice.size());
    GUARD_TRY(run(false));
  }
  return ok();
}

Result<void> TerminalSafety::finish() {
  GUARD_TRY(run(true));
  return out_.finish();
}

Result<void> TerminalSafety::run(bool ended) {
  const std::string_view all = carry_;
  std::size_t done = 0;
  while (done < all.size()) {
    const std::size_t size = take(all.substr(done), ended);
    if (size == 0) break;
    done += size;
  }
  carry_.erase(0, done);
  if (safe_.empty()) return ok();
  auto pushed = out_.push(safe_);
  safe_.clear();
  return pushed;
}

std::size_t TerminalSafety::take(std::string_view text, bool ended) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first >= 0x80) return take_character(text, ended);
  if (first < 0x20 || first == 0x7f) return take_control(text, ended);
  return take_plain(text, ended);
}

std::size_t TerminalSafety::take_control(std::string_view text, bool ended) {
  const char first = text.front();
  if (first == '\t') {
    safe_ += first;
    after_ascii_ = true;
    return 1;
  }
  if (first == '\n' || first == '\r') {
    if (first == '\r' && text.size() == 1 && !ended) return 0;
    const bool pair = first == '\r' && text.size() > 1 && text[1] == '\n';
    safe_ += pair ? "\r\n" : "\n";
    line_start_ = true;
    after_ascii_ = true;
    return pair ? 2 : 1;
  }
  if (first == '\x1b') {
    std::size_t size = 0;
    const Seen seen = see_colour(text, size);
    if (seen == Seen::partly && !ended) return 0;
    if (seen == Seen::fully && !conceals(text.substr(2, size - 3))) {
      safe_ += text.substr(0, size);
      after_ascii_ = true;
      return size;
    }
  }
  safe_ += fmt::format("\\x{:02x}", static_cast<unsigned char>(first));
  line_start_ = false;
  after_ascii_ = true;
  return 1;
}

std::size_t TerminalSafety::take_character(std::string_view text, bool ended) {
  const auto character = decode(text);
  if (!character || (character->size == 0 && ended)) {
    safe_ += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    line_start_ = false;
    after_ascii_ = true;
    return 1;
  }
  if (character->size == 0) return 0;
  if (is_deceptive(character->code) || (joins_emoji(character->code) && after_ascii_)) {
    safe_ += fmt::format("\\u{:04x}", character->code);
    line_start_ = false;
    after_ascii_ = true;
    return character->size;
  }
  // Some readers of CI logs trim what Unicode calls a blank before they look for a command, so the line has not begun.
  safe_ += text.substr(0, character->size);
  after_ascii_ = false;
  return character->size;
}

std::size_t TerminalSafety::take_plain(std::string_view text, bool ended) {
  const char first = text.front();
  after_ascii_ = true;
  if (first == ':' && line_start_) {
    if (text.size() < 3 && (text.size() < 2 || text[1] == ':') && !ended) return 0;
    if (text.size() >= 3 && text[1] == ':' && is_letter(text[2])) safe_ += '\\';
  } else if (first == '#') {
    if (text.size() < 3 && (text.size() < 2 || text[1] == '#') && !ended) return 0;
    if (text.size() >= 3 && text[1] == '#') {
      // Letters and non-ASCII stand for the names that the programs know, also in ways of writing that they fold.
      if (text[2] == '[' || is_letter(text[2]) || static_cast<unsigned char>(text[2]) >= 0x80) {
        safe_ += "#\\";
        line_start_ = false;
        return 1;
      }
    }
  }
  safe_ += first;
  if (first != ' ') line_start_ = false;
  // Most bytes are plain: take them in one step, up to what has to be looked at.
  std::size_t size = 1;
  if (!line_start_) {
    while (size < text.size() && text[size] >= ' ' && text[size] <= '~' && text[size] != '#') ++size;
    safe_ += text.substr(1, size - 1);
  }
  return size;
}

}  // namespace guard
