// The part of a stream that is in memory now, addressed by offsets from the stream's beginning, and the spans found in
// it.
//
// Finders may look at bytes only, never at where a read ended: what they can't yet see is "undecided", and they come
// back to it when there is more. That is what makes the output independent of how the input was cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "redact/kinds/byte_set.h"

namespace guard {

using Offset = std::uint64_t;

// Bytes to hide. Among spans that begin together the lowest `kind` names the marker.
struct SecretSpan {
  Offset begin = 0;
  Offset end = 0;
  std::uint32_t kind = 0;  // asked of SecretSource::State::name()
  bool goes_on = false;    // the rest of a secret that was reported before: it gets no marker of its own
};

inline bool in_order(const SecretSpan& a, const SecretSpan& b) noexcept {
  if (a.begin != b.begin) return a.begin < b.begin;
  return a.goes_on != b.goes_on ? a.goes_on : a.kind < b.kind;
}

// Hidden stretches, joined where they touch.
class HiddenStretches {
 public:
  void add(Offset begin, Offset end) {
    const auto ends_before = [](const Stretch& stretch, Offset offset) { return stretch.end < offset; };
    const auto first = std::lower_bound(stretches_.begin(), stretches_.end(), begin, ends_before);
    auto last = first;
    for (; last != stretches_.end() && last->begin <= end; ++last) {
      begin = std::min(begin, last->begin);
      end = std::max(end, last->end);
    }
    if (first == last) {
      stretches_.insert(first, {begin, end});
    } else {
      *first = {begin, end};
      stretches_.erase(std::next(first), last);
    }
  }
  // Is the byte before `at` hidden by a span that begins before `at`?
  bool hides_before(Offset at) const noexcept {
    const auto begins_before = [](const Stretch& stretch, Offset offset) { return stretch.begin < offset; };
    const auto after = std::lower_bound(stretches_.begin(), stretches_.end(), at, begins_before);
    return after != stretches_.begin() && at <= std::prev(after)->end;
  }
  bool hides(Offset at) const noexcept { return hides_before(at + 1); }
  void forget_before(Offset at) {
    const auto asked_for = [at](const Stretch& stretch) { return stretch.end >= at; };
    stretches_.erase(stretches_.begin(), std::find_if(stretches_.begin(), stretches_.end(), asked_for));
  }

 private:
  struct Stretch {
    Offset begin = 0;
    Offset end = 0;
  };
  std::vector<Stretch> stretches_;
};

// For a second reading of a stream: what is hidden in the stream itself, and what of it is left out.
class OuterMask {
 public:
  // Is known whether the byte at `at` of this reading is hidden, and all before it?
  virtual bool knows(Offset at) const = 0;
  // Does a hidden stretch end before it: with the byte before it, or with the end of what this reading leaves out
  // there?
  virtual bool ends_before(Offset at) const = 0;
  // The last place before `to` and behind `from` where this reading leaves out a line end; `from` if there is none.
  virtual Offset last_seam(Offset from, Offset to) const = 0;

 protected:
  ~OuterMask() = default;
};

constexpr bool is_line_end(char byte) noexcept { return byte == '\n' || byte == '\r'; }

// The line from its first byte given to just before its end.
inline std::string_view cut_at_line_end(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  return text.substr(0, text.find('\r'));
}

// The line's part before `text` ends.
inline std::string_view cut_at_line_begin(std::string_view text) {
  const std::size_t line_end = text.rfind('\n');
  return line_end == std::string_view::npos ? text : text.substr(line_end + 1);
}

// A decision about a candidate looks at this many bytes at most, and past the end of its line only for the value of a
// name: decision_window().
inline constexpr std::size_t kWindowBytes = 256;
// And at this many before it.
inline constexpr std::size_t kLeftContextBytes = 64;

// Where `left` ends inside an escape sequence (ESC [ 3 | 2 m): how many bytes of `text` still belong to that; else 0.
inline std::size_t rest_of_escape(std::string_view left, std::string_view text) {
  const auto parameter = [](char c) { return (c >= '0' && c <= '9') || c == ';' || c == ':'; };
  if (left.ends_with("\x1b(") || left.ends_with("\x1b)")) return 1;
  while (!left.empty() && parameter(left.back())) left.remove_suffix(1);
  if (!left.ends_with("\x1b[")) return 0;
  const auto end = std::find_if_not(text.begin(), text.end(), parameter);
  return end != text.end() && *end >= '@' && *end <= '~' ? static_cast<std::size_t>(end - text.begin()) + 1 : 0;
}

// Where a value can begin: for a name that its line ends with, or all but a few signs, also on the line below.
enum class Value : bool { same_line, or_below };

// Of `rest`, which begins with a candidate: its line, and where its value may stand below all up to the end of the next
// line that is not blank.
inline std::string_view decision_window(std::string_view rest, Value value) {
  constexpr std::string_view kBlank = " \t";
  constexpr std::size_t kSignsMax = 24;  // `: string =`
  rest = rest.substr(0, kWindowBytes);
  const std::string_view line = cut_at_line_end(rest);
  if (value == Value::same_line || line.size() == rest.size()) return line;
  std::string_view signs = line.substr(0, line.find_last_not_of(kBlank) + 1);
  signs.remove_prefix(
      std::min(signs.size(), static_cast<std::size_t>(std::find_if_not(signs.begin(), signs.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
            c == '.';
      }) - signs.begin())));
  const bool is_open =
      signs.find_first_not_of(" \t\"'`:=,>|\\") == std::string_view::npos || signs.back() == '=' || signs.back() == ':';
  if (!is_open || signs.size() > kSignsMax) return line;
  const std::size_t below = rest.find_first_not_of(" \t\r\n", line.size());
  if (below == std::string_view::npos) return rest;
  return rest.substr(0, below + cut_at_line_end(rest.substr(below)).size());
}

class StreamText {
 public:
  // `ended`: nothing follows.
  StreamText(std::string_view bytes, Offset begin, bool ended) : bytes_(bytes), begin_(begin), ended_(ended) {}

  Offset begin() const noexcept { return begin_; }
  Offset end() const noexcept { return begin_ + bytes_.size(); }
  bool ended() const noexcept { return ended_; }
  char at(Offset at) const { return bytes_[static_cast<std::size_t>(at - begin_)]; }
  std::string_view between(Offset from, Offset to) const {
    return bytes_.substr(static_cast<std::size_t>(from - begin_), static_cast<std::size_t>(to - from));
  }
  std::string_view from(Offset at) const { return between(at, end()); }

  // What can be seen before `at`, at most kLeftContextBytes.
  std::string_view left_of(Offset at) const {
    return between(std::max(begin_, at - std::min<Offset>(at, kLeftContextBytes)), at);
  }

  // The decision window that begins at `at`; nothing as long as bytes of it are still to come.
  std::optional<std::string_view> window(Offset at, Value value = Value::same_line) const {
    const std::string_view rest = from(at).substr(0, kWindowBytes);
    const std::string_view window = decision_window(rest, value);
    if (window.size() == rest.size() && rest.size() < kWindowBytes && !ended_) return std::nullopt;
    return window;
  }

  // The first offset from `at` on whose byte is not in `set`, or end().
  Offset skip(Offset at, const ByteSet& set) const {
    while (at < end() && set.has(this->at(at))) ++at;
    return at;
  }

 private:
  std::string_view bytes_;
  Offset begin_;
  bool ended_;
};

}  // namespace guard
