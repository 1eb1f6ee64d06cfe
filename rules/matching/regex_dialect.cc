#include "rules/matching/regex_dialect.h"

#include <fmt/format.h>

#include <vector>

#include "rules/matching/hyperscan_scanner.h"
#include "rules/matching/re2_matcher.h"

namespace guard {
namespace {

// JavaScript counts VT as white space, PCRE too, RE2 does not. Ours does, in both engines.
constexpr std::string_view kBlanks = R"(\t\n\x0b\f\r\x20)";
constexpr std::string_view kNoBlanks = R"(\x00-\x08\x0e-\x1f\x21-\xff)";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// One pass over the pattern, left to right. It knows just enough grammar to tell a class from the rest and which of the
// flags i, m hold; whether parentheses and repeats make sense is for the engines to say.
class Rewriter {
 public:
  explicit Rewriter(std::string_view in) : in_(in) {}

  bool run(std::string& out, RegexFault& fault) {
    while (fault_.sentence.empty() && at_ < in_.size()) step();
    if (!fault_.sentence.empty()) {
      fault = std::move(fault_);
      return false;
    }
    out = std::move(out_);
    return true;
  }

 private:
  struct Flags {
    bool ignore_case = false;
    bool multi_line = false;
  };
  // A character of a class, or -1 for a set such as \d.
  static constexpr int kSet = -1;

  void fail(std::size_t offset, std::string sentence) {
    if (fault_.sentence.empty()) fault_ = {offset, std::move(sentence)};
    at_ = in_.size();
  }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }

  bool plain_byte() {
    const auto c = static_cast<unsigned char>(in_[at_]);
    if (c >= 0x80) {
      fail(at_, "a character outside ASCII: write its bytes as \\xHH");
      return false;
    }
    if (c < 0x20 && c != '\t' && c != '\n') {
      fail(at_, "a control byte: write it as \\xHH");
      return false;
    }
    return true;
  }

  void step() {
    if (!plain_byte()) return;
    const char c = in_[at_];
    switch (c) {
      case '\\': escape(false); return;
      case '[': char_class(); return;
      case '(': group(); return;
      case ')':
        if (!outer_.empty()) {
          flags_ = outer_.back();
          outer_.pop_back();
        }
        break;
      case '$':
        // Without (?m), Perl's `$` also matches before a last line end, RE2's does not.
        out_ += flags_.multi_line ? "$" : "\\z";
        ++at_;
        return;
      case '{': brace(); return;
      case '}':
      case ']': out_ += '\\'; break;
      default: break;
    }
    out_ += c;
    ++at_;
  }

  // `{n}`, `{n,}` and `{n,m}` repeat; every other brace is one that the text must hold.
  void brace() {
    std::size_t end = at_ + 1;
    const auto digits = [&] {
      const std::size_t before = end;
      while (end < in_.size() && is_digit(in_[end])) ++end;
      return end > before;
    };
    const bool first = digits();
    const bool comma = end < in_.size() && in_[end] == ',';
    if (comma) ++end;
    const bool second = comma && digits();
    const bool closed = end < in_.size() && in_[end] == '}';
    if (!first && second && closed) return fail(at_, "{,n} is read differently by the engines: write {0,n}");
    if (first && closed) {
      out_ += in_.substr(at_, end + 1 - at_);
      at_ = end + 1;
      return;
    }
    out_ += "\\{";
    ++at_;
  }

  void group() {
    const std::size_t start = at_;
    if (peek(1) == '*') return fail(start, "(*...) verbs are not part of the dialect");
    outer_.push_back(flags_);
    if (peek(1) != '?') {
      out_ += '(';
      ++at_;
      return;
    }
    if (peek(2) == 'P' && peek(3) == '<') {
      const std::size_t end = in_.find('>', at_);
      if (end == std::string_view::npos) return fail(start, "the name of a group has no end");
      for (std::size_t i = at_ + 4; i < end; ++i) {
        if (!is_alpha(in_[i]) && !is_digit(in_[i]) && in_[i] != '_')
          return fail(i, "names of groups are made of letters, digits and _");
      }
      out_ += in_.substr(at_, end + 1 - at_);
      at_ = end + 1;
      return;
    }
    std::size_t i = at_ + 2;
    bool on = true;
    Flags flags = flags_;
    for (; i < in_.size() && in_[i] != ':' && in_[i] != ')'; ++i) {
      if (in_[i] == '-' && on) {
        on = false;
      } else if (in_[i] == 'i') {
        flags.ignore_case = on;
      } else if (in_[i] == 'm') {
        flags.multi_line = on;
      } else if (in_[i] != 's') {
        return fail(start,
            "only (...), (?:...), (?P<name>...) and the flags i, m, s are part of the dialect; there is no "
            "look-around");
      }
    }
    if (i == in_.size()) return fail(start, "a group has no end");
    out_ += in_.substr(at_, i + 1 - at_);
    // (?i) lasts to the end of the group around it; (?i:...) to its own.
    if (in_[i] == ')') outer_.pop_back();
    flags_ = flags;
    at_ = i + 1;
  }

  // Writes the escape at at_. Answers the byte it stands for, or kSet.
  int escape(bool in_class) {
    const std::size_t start = at_;
    if (at_ + 1 >= in_.size()) {
      fail(start, "a backslash at the end");
      return kSet;
    }
    const char c = in_[at_ + 1];
    at_ += 2;
    switch (c) {
      case 's': out_ += in_class ? fmt::format("{}", kBlanks) : fmt::format("[{}]", kBlanks); return kSet;
      case 'S': out_ += in_class ? fmt::format("{}", kNoBlanks) : fmt::format("[^{}]", kBlanks); return kSet;
      case 'd':
      case 'D':
      case 'w':
      case 'W': out_ += {'\\', c}; return kSet;
      case 'b':
      case 'B':
      case 'A':
      case 'z':
        if (in_class) {
          fail(start, fmt::format("\\{} has no meaning in a class", c));
          return kSet;
        }
        out_ += {'\\', c};
        return kSet;
      case 't': out_ += "\\t"; return '\t';
      case 'n': out_ += "\\n"; return '\n';
      case 'r': out_ += "\\r"; return '\r';
      case 'f': out_ += "\\f"; return '\f';
      case 'v': out_ += "\\x0b"; return 0x0b;
      case 'x': return hex(start, in_class);
      default: break;
    }
    if (is_digit(c)) {
      fail(start, "no octal escapes and no back references: write bytes as \\xHH");
      return kSet;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (is_alpha(c) || byte < 0x20 || byte >= 0x7f) {
      fail(start,
          "the escapes are \\d \\w \\s \\D \\W \\S \\b \\B \\A \\z \\t \\n \\r \\f \\v \\xHH and a backslash before "
          "punctuation");
      return kSet;
    }
    out_ += {'\\', c};
    return byte;
  }

  int hex(std::size_t start, bool in_class) {
    int value = 0;
    if (peek() == '{') {
      std::size_t i = at_ + 1;
      for (; i < in_.size() && hex_value(in_[i]) >= 0 && value <= 0xff; ++i) value = value * 16 + hex_value(in_[i]);
      if (i == at_ + 1 || i >= in_.size() || in_[i] != '}' || value > 0xff) {
        fail(start, "text is matched as bytes: \\x{...} ends at \\x{ff}");
        return kSet;
      }
      at_ = i + 1;
    } else {
      if (hex_value(peek()) < 0 || hex_value(peek(1)) < 0) {
        fail(start, "\\x takes two hexadecimal digits");
        return kSet;
      }
      value = hex_value(peek()) * 16 + hex_value(peek(1));
      at_ += 2;
    }
    if (value >= 0x80 && flags_.ignore_case && !in_class) {
      fail(start, "under (?i) the engines fold bytes over 0x7f differently: put them into (?-i:...)");
      return kSet;
    }
    out_ += fmt::format("\\x{:02x}", value);
    return value;
  }

  void char_class() {
    const std::size_t start = at_;
    out_ += '[';
    ++at_;
    if (peek() == '^') {
      out_ += '^';
      ++at_;
    }
    bool first = true;
    while (fault_.sentence.empty()) {
      if (at_ >= in_.size()) return fail(start, "a class has no end");
      if (in_[at_] == ']' && !first) {
        out_ += ']';
        ++at_;
        return;
      }
      first = false;
      class_item();
    }
  }

  // A character, a range or a set.
  void class_item() {
    const std::size_t start = at_;
    const int low = class_character();
    int high = low;
    if (peek() == '-' && at_ + 1 < in_.size() && peek(1) != ']') {
      if (low == kSet) return fail(start, "a range can't begin with a set: write the `-` as \\-");
      out_ += '-';
      ++at_;
      high = class_character();
      if (high == kSet) return fail(start, "a range can't end with a set: write the `-` as \\-");
    }
    // All bytes over 0x7f together are closed under either engine's folding; a part of them is not.
    if (flags_.ignore_case && high >= 0x80 && !(high == 0xff && low <= 0x80)) {
      fail(start,
          "under (?i) the engines fold bytes over 0x7f differently: only ranges that hold \\x80-\\xff are taken");
    }
  }

  int class_character() {
    if (at_ >= in_.size() || !plain_byte()) return kSet;
    const char c = in_[at_];
    if (c == '\\') return escape(true);
    if (c == '[') {
      if (peek(1) == ':' || peek(1) == '.' || peek(1) == '=') {
        fail(at_, "no POSIX classes: write the characters out ([:alnum:] is a-zA-Z0-9)");
        return kSet;
      }
      out_ += '\\';
    }
    // A `-` that is a character of its own; and a `]` that comes first.
    if (c == '-' || c == ']' || c == '^') out_ += '\\';
    out_ += c;
    ++at_;
    return static_cast<unsigned char>(c);
  }

  std::string_view in_;
  std::size_t at_ = 0;
  std::string out_;
  Flags flags_;
  std::vector<Flags> outer_;
  RegexFault fault_;
};

}  // namespace

bool rewrite_regex(std::string& regex, RegexFault& fault) {
  if (regex.empty()) {
    fault = {0, "an empty regex matches everywhere"};
    return false;
  }
  return Rewriter(regex).run(regex, fault);
}

bool check_pattern(Pattern& pattern, RegexFault& fault) {
  std::string regex(pattern.regex);
  if (!rewrite_regex(regex, fault)) return false;
  const auto exact = Re2Matcher::create(regex);
  if (!exact) {
    fault = {0, exact.error().message()};
    return false;
  }
  if (pattern.capture > exact->groups()) {
    fault = {0, fmt::format("capture = {}, but the regex has {} group(s)", pattern.capture, exact->groups())};
    return false;
  }
  std::uint32_t bytes_max = Pattern::kUnbounded;
  if (HyperscanScanner::available()) {
    const auto widths = HyperscanScanner::widths(regex);
    if (!widths) {
      fault = {0, widths.error().message()};
      return false;
    }
    if (widths->bytes_min == 0) {
      fault = {0, "the regex matches the empty text"};
      return false;
    }
    bytes_max = widths->bytes_max;
  } else if (exact->matches_empty()) {
    fault = {0, "the regex matches the empty text"};
    return false;
  }
  pattern.regex = std::move(regex);
  pattern.bytes_max = bytes_max;
  return true;
}

}  // namespace guard
