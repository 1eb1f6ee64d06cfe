#include "redact/kinds/pem_tail.h"

#include "redact/kinds/lazy_pattern.h"

namespace guard {
namespace {

// What may stand before a body line: colours, an indentation, a gutter or quote sign, an opening quote.
#define GUARD_PEM_LEAD                                                                                          \
  R"((?:\x1b\[[0-9;]{0,16}m)*[ \t]*(?:[0-9]{1,6} ?[|:] ?|[>|*#+-]{1,3} ?|// ?|[A-Za-z0-9_.-]{1,32} {0,8}\| ?|)" \
  R"(\xe2[\x94\x95][\x80-\xbf] ?)?(?:\x1b\[[0-9;]{0,16}m)*[ \t]*["'`]?)"
// And after it: written-out line ends, a closing quote, a joining sign.
#define GUARD_PEM_TRAIL R"((?:\\+[nr])*["'`]?[ \t]*[,;+\\]?[ \t]*(?:\x1b\[[0-9;]{0,16}m)*)"

const LazyPattern& opening_line() {
  static const LazyPattern pattern("" GUARD_PEM_TRAIL R"(\z)");
  return pattern;
}

const LazyPattern& opening_on_one_line() {
  static const LazyPattern pattern(R"((?:\\+[nr]|[ \t])*(?:[A-Za-z0-9+/=]{16}|Proc-Type|DEK-Info|Version:|Comment:))");
  return pattern;
}

const LazyPattern& last_line() {
  static const LazyPattern pattern("" GUARD_PEM_LEAD R"([A-Za-z0-9+/=\\]*-----END [A-Z0-9 ]{1,64}-----)");
  return pattern;
}

const LazyPattern& body_line() {
  static const LazyPattern pattern(
      "" GUARD_PEM_LEAD R"((?:[A-Za-z0-9+/=]*(?:-{1,5}(?:E|EN|END[A-Z0-9 ]{0,64}-{0,5})?)?|)"
      R"((?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|MessageID): [ -~]*))" GUARD_PEM_TRAIL R"(\z)");
  return pattern;
}

// Behind anything that a log, a container or a frame puts before a line: only what is plainly a body counts, because
// prose ends in letters, too.
const LazyPattern& prefixed_body_line() {
  static const LazyPattern pattern(
      "[^\\n]{0,120}?[^A-Za-z0-9+/=](?:[A-Za-z0-9+/]{40,100}|[A-Za-z0-9+/]{2,100}={1,2}|[A-Za-z0-9+/"
      "]{0,100}={0,2}-----END"
      "[A-Z0-9 ]{0,64}-{0,5})" GUARD_PEM_TRAIL R"((?:<br ?/?>|[$])?\z)");
  return pattern;
}

const LazyPattern& end_marker() {
  static const LazyPattern pattern("-----END [A-Z0-9 ]{1,64}-----");
  return pattern;
}

#undef GUARD_PEM_LEAD
#undef GUARD_PEM_TRAIL

const ByteSet kOneLine = *ByteSet::parse("A-Za-z0-9+/=\\\\ \t:,.");
// Beyond the limit the key ends at the next of these.
const ByteSet kOneLineUnbroken = *ByteSet::parse("A-Za-z0-9+/=:,.");

Result<bool> matches(const LazyPattern& pattern, std::string_view text, std::size_t& size) {
  std::size_t begin = 0;
  return pattern.match(text, 0, begin, size);
}

}  // namespace

Result<PemTail> PemTail::open(Offset begin, Offset header_end, std::string_view rest, bool open) {
  PemTail tail;
  tail.begin_ = begin;
  std::size_t size = 0;
  GUARD_TRY_ASSIGN(const bool line, matches(opening_line(), rest, size));
  if (line && !open) {
    tail.mode_ = Mode::lines;
    tail.end_ = header_end + rest.size();
    return tail;
  }
  GUARD_TRY_ASSIGN(const bool one_line, matches(opening_on_one_line(), rest, size));
  if (one_line) {
    tail.mode_ = Mode::one_line;
    tail.end_ = header_end;
  }
  return tail;
}

Result<void> PemTail::advance(const StreamText& text) {
  while (active()) {
    GUARD_TRY_ASSIGN(const bool decided, mode_ == Mode::lines ? advance_line(text) : advance_on_line(text));
    if (!decided) return ok();
  }
  return ok();
}

// False: more has to be seen.
Result<bool> PemTail::advance_line(const StreamText& text) {
  const Offset line_begin = end_ + 1;
  if (line_begin >= text.end() && text.ended()) {
    mode_ = Mode::done;  // the last line end is kept
    return true;
  }
  if (line_begin > text.end()) return false;
  if (end_ - begin_ >= kPemBytesMax) {
    mode_ = Mode::done;
    return true;
  }
  const auto window = text.window(line_begin);
  if (!window) return false;
  std::size_t size = 0;
  GUARD_TRY_ASSIGN(const bool last, matches(last_line(), *window, size));
  if (last) {
    end_ = line_begin + size;
    mode_ = Mode::done;
    return true;
  }
  if (window->size() < kWindowBytes) {
    GUARD_TRY_ASSIGN(bool body, matches(body_line(), *window, size));
    if (!body) {
      GUARD_TRY_ASSIGN(body, matches(prefixed_body_line(), *window, size));
    }
    if (body) {
      end_ = line_begin + size;
    } else {
      mode_ = Mode::done;
    }
    return true;
  }
  GUARD_TRY_ASSIGN(const bool one_line, matches(opening_on_one_line(), *window, size));
  mode_ = one_line ? Mode::one_line : Mode::done;
  if (one_line) end_ = line_begin;
  return true;
}

Result<bool> PemTail::advance_on_line(const StreamText& text) {
  const Offset limit = begin_ + kPemBytesMax;
  while (end_ < text.end() && (end_ < limit ? kOneLine : kOneLineUnbroken).has(text.at(end_))) ++end_;
  if (end_ == text.end()) {
    if (text.ended()) mode_ = Mode::done;
    return text.ended();
  }
  const char stop = text.at(end_);
  if (is_line_end(stop)) {
    mode_ = Mode::lines;
    return true;
  }
  if (stop == '-') {
    const auto window = text.window(end_);
    if (!window) return false;
    std::size_t size = 0;
    GUARD_TRY_ASSIGN(const bool last, matches(end_marker(), *window, size));
    if (last) {
      end_ += size;
    } else if (window->size() >= 2 && (*window)[1] != '-' && end_ < limit) {
      ++end_;  // a header's name, such as Proc-Type
      return true;
    }
  }
  mode_ = Mode::done;
  return true;
}

}  // namespace guard
