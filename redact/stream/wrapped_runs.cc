#include "redact/stream/wrapped_runs.h"

#include <algorithm>

#include "redact/stream/seam.h"

namespace guard {
namespace {

bool is_mixed(std::string_view text) {
  bool lower = false;
  bool upper = false;
  bool digit = false;
  for (const char c : text) {
    lower = lower || (c >= 'a' && c <= 'z');
    upper = upper || (c >= 'A' && c <= 'Z');
    digit = digit || (c >= '0' && c <= '9');
  }
  return lower && upper && digit;
}

// `text`: up to the end of a line, as far as it can be seen. Where BEGIN was hidden a marker stands now: of a key's, or
// of a value that the line belonged to.
bool opens_armour(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (!text.ends_with("-----") && text.find("[REDACTED:") == std::string_view::npos) return false;
  const std::string_view line = cut_at_line_begin(text);
  return line.find("[REDACTED:") != std::string_view::npos ||
      (line.ends_with("-----") && line.find("-----BEGIN ") != std::string_view::npos);
}

}  // namespace

void WrappedRuns::advance(const StreamText& text, std::vector<SecretSpan>& spans) {
  for (;;) {
    if (skipping_) {
      const std::size_t size = text.from(at_).find('\n');
      if (size == std::string_view::npos) {
        frontier_ = at_ = text.end();
        return;
      }
      at_ += size;
      if (opens_armour(text.left_of(at_))) armour_ = true;
      ++at_;
      skipping_ = false;
    }
    if (!take_line(text, spans)) {
      frontier_ = lines_ > 0 ? block_ : at_;
      return;
    }
  }
}

// False where the line's end has to be seen first.
bool WrappedRuns::take_line(const StreamText& text, std::vector<SecretSpan>& spans) {
  Offset begin = at_;
  if (begin == text.end()) return false;
  if (armour_) {
    const auto window = text.window(at_);
    if (!window) return false;
    armour_ = stays_in_armour(*window);
    if (armour_) {
      at_ += window->size();
      lines_ = 0;
      skipping_ = true;
      return true;
    }
  }
  while (begin < text.end() && begin - at_ < kBlanksMax && (text.at(begin) == ' ' || text.at(begin) == '\t')) ++begin;
  // Most lines are too short or no run, which one byte of them shows. A line that may end a block may be shorter, and
  // one whose end is not seen yet waits for it: two of `pad`, a CR and the byte behind them.
  if (lines_ == 0 && begin + kWidthMin + 3 <= text.end() && !chars_.has(text.at(begin + kWidthMin - 1))) {
    at_ = begin;
    skipping_ = true;
    return true;
  }
  Offset end = begin;
  while (end < text.end() && end - begin <= kWidthMax && chars_.has(text.at(end))) ++end;
  Offset padded = end;
  while (padded < text.end() && padded - end < 2 && pad_.has(text.at(padded))) ++padded;
  Offset next = padded;
  if (next < text.end() && text.at(next) == '\r') ++next;
  if (next == text.end() && !text.ended()) return false;
  const bool ended = next == text.end() || text.at(next) == '\n';
  const Offset width = end - begin;
  const std::string_view line = text.between(begin, end);

  if (ended && padded == end && width >= kWidthMin && width <= kWidthMax && is_mixed(line)) {
    if (lines_ == 0 || width != width_) {
      lines_ = 0;
      told_ = false;
      width_ = width;
      block_ = begin;
    }
    if (++lines_ >= kLinesMin) hide(end, spans);
    at_ = next;
    if (next == text.end()) return false;
    ++at_;
    return true;
  }
  if (ended && lines_ >= kLinesMin && width < width_ && (padded > end || !reads_as_words(line))) hide(padded, spans);
  lines_ = 0;
  at_ = next;
  if (at_ == text.end()) return false;
  skipping_ = true;
  return true;
}

void WrappedRuns::hide(Offset end, std::vector<SecretSpan>& spans) {
  spans.push_back({block_, end, marker_, told_});
  told_ = true;
  block_ = end;
}

Offset WrappedRuns::live_from(const StreamText& text) const {
  if (lines_ > 0) return block_;
  if (skipping_ || armour_) return text.end();
  // A first line whose end has not been seen whole.
  Offset begin = at_;
  while (begin < text.end() && (text.at(begin) == ' ' || text.at(begin) == '\t')) ++begin;
  std::string_view line = text.from(begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line.size() >= kWidthMin && is_mixed(line) ? begin : text.end();
}

bool WrappedRuns::stays_in_armour(std::string_view line) const {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return true;
  line.remove_prefix(first);
  std::size_t size = 0;
  while (size < line.size() && (chars_.has(line[size]) || pad_.has(line[size]))) ++size;
  return size == line.size() || (size > 0 && line.substr(size).starts_with(": "));
}

}  // namespace guard
