#include "redact/kinds/secret_matcher.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "redact/stream/stream_text.h"

namespace guard {
namespace {

constexpr std::size_t kJudgedBytes = 64;  // of a value, for needs and entropy

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// `digits` hex digits before the end of `text`, and `sign` before them.
bool ends_in_escape(std::string_view text, std::string_view sign, std::size_t digits) {
  if (text.size() < digits + sign.size()) return false;
  const std::string_view tail = text.substr(text.size() - digits);
  for (const char c : tail) {
    if (!is_hex(c)) return false;
  }
  return text.substr(0, text.size() - digits).ends_with(sign);
}

bool ends_in_colour(std::string_view text) {
  if (!text.ends_with('m')) return false;
  text.remove_suffix(1);
  while (!text.empty() && ((text.back() >= '0' && text.back() <= '9') || text.back() == ';' || text.back() == ':')) {
    text.remove_suffix(1);
  }
  return text.ends_with('[');
}

double bits_per_byte(std::string_view text) {
  std::array<unsigned, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  const auto size = static_cast<double>(text.size());
  double bits = 0;
  for (const unsigned count : counts) {
    if (count > 0) bits -= count / size * std::log2(count / size);
  }
  return bits;
}

// Does one of the prefixes stand at the beginning of `text` with a byte of `next` behind it?
bool begins(const SecretKind& kind, std::string_view text) {
  const auto same = [&](char lower, char c) {
    return lower == (kind.fold_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  };
  return kind.next.empty() || std::any_of(kind.prefixes.begin(), kind.prefixes.end(), [&](std::string_view prefix) {
    return text.size() > prefix.size() && std::equal(prefix.begin(), prefix.end(), text.begin(), same) &&
        kind.next.has(text[prefix.size()]);
  });
}

bool has_needs(const SecretKind& kind, std::string_view text) {
  return std::all_of(kind.needs.begin(), kind.needs.end(),
      [&](const ByteSet& need) { return std::any_of(text.begin(), text.end(), [&](char c) { return need.has(c); }); });
}

// Has the window room for a value? Looked at from far to near: text that has none is left after a few bytes.
bool may_hold_value(const SecretKind& kind, std::string_view window) {
  for (std::size_t begin = 0; begin + kind.size_min <= window.size();) {
    std::size_t at = begin + kind.size_min;
    while (at > begin && kind.tail.has(window[at - 1])) --at;
    if (at == begin) return true;
    begin = at;
  }
  return false;
}

// May it hold a value that has all that it needs? With a `size_min` that is one run of `tail`.
bool may_look_random(const SecretKind& kind, std::string_view window) {
  if (kind.size_min == 0) return has_needs(kind, window);
  while (!window.empty()) {
    const auto end = std::find_if_not(window.begin(), window.end(), [&](char c) { return kind.tail.has(c); });
    const std::string_view run = window.substr(0, static_cast<std::size_t>(end - window.begin()));
    if (run.size() >= kind.size_min && has_needs(kind, run)) return true;
    window.remove_prefix(std::min(run.size() + 1, window.size()));
  }
  return false;
}

bool looks_random(const SecretKind& kind, std::string_view value) {
  if (value.size() < kind.size_min) return false;
  value = value.substr(0, kJudgedBytes);
  if (!has_needs(kind, value)) return false;
  return kind.entropy_min <= 0 || bits_per_byte(value) >= kind.entropy_min;
}

// What looks like a value on the line below a name, and is a name itself: `secrets:` and `  key2: value`.
bool is_name_below(const SecretKind& kind, std::string_view window, std::size_t begin, std::size_t end) {
  if (window.substr(0, begin).find('\n') == std::string_view::npos) return false;
  while (end < window.size() && kind.tail.has(window[end])) ++end;
  if (window[end - 1] == ':') return true;
  const std::size_t sign = window.find_first_not_of("\\\"'` \t", end);
  return sign != std::string_view::npos && (window[sign] == ':' || window[sign] == '=');
}

}  // namespace

bool at_word_start(std::string_view left) {
  if (left.empty() || !is_alnum(left.back())) return true;
  const char last = left.back();
  const auto before = [&](std::size_t back) { return left.size() > back ? left[left.size() - 1 - back] : ' '; };
  // ESC \ ends a command to the terminal and begins nothing.
  if (before(1) == '\\' && before(2) != '\x1b' && std::string_view("nrtbfv0").find(last) != std::string_view::npos)
    return true;
  return ends_in_escape(left, "%", 2) || ends_in_escape(left, "\\x", 2) || ends_in_escape(left, "\\u", 4) ||
      ends_in_colour(left);
}

SecretMatcher::SecretMatcher(const SecretKind& kind) : kind_(&kind), behind_(kind.behind), except_(kind.except) {
  for (const SecretPattern& pattern : kind.patterns) patterns_.emplace_back(pattern.regex);
}

Result<KindMatch> SecretMatcher::decide(const Candidate& candidate, LastRefusal* last) const {
  const std::string_view window = candidate.window;
  if (!begins(*kind_, window.substr(candidate.lead_bytes))) return KindMatch();
  if (!kind_->any_left && !candidate.left_masked && !at_word_start(candidate.left)) return KindMatch();
  if (!may_hold_value(*kind_, window)) return KindMatch();
  const std::string_view left = kind_->behind.empty() ? std::string_view() : candidate.left;
  if (last != nullptr && !window.empty() && last->window == window && last->left == left) return KindMatch();
  KindMatch match;
  // A pattern that nobody needs is not compiled: that takes longer than all else in a short text.
  if (may_look_random(*kind_, window)) {
    GUARD_TRY_ASSIGN(match, judge(window));
  }
  if (match.found && !kind_->behind.empty()) {
    std::size_t begin = 0;
    std::size_t end = 0;
    GUARD_TRY_ASSIGN(const bool stands_behind, behind_.match(left, 0, begin, end));
    if (!stands_behind) match = KindMatch();
  }
  if (last != nullptr && !match.found) {
    last->window = window;
    last->left = left;
  }
  return match;
}

Result<KindMatch> SecretMatcher::judge(std::string_view window) const {
  const SecretKind& kind = *kind_;
  KindMatch match;
  for (std::size_t i = 0; i < patterns_.size() && !match.found; ++i) {
    match = KindMatch();
    GUARD_TRY_ASSIGN(match.found, patterns_[i].match(window, kind.patterns[i].group, match.begin, match.end));
  }
  if (!match.found || is_name_below(kind, window, match.begin, match.end)) return KindMatch();
  if (!kind.except.empty()) {
    std::size_t begin = 0;
    std::size_t end = 0;
    GUARD_TRY_ASSIGN(const bool excepted, except_.match(window.substr(match.begin), 0, begin, end));
    // What reaches the end of a full window goes on behind it, and its end was not seen.
    const bool seen_whole = window.size() < kWindowBytes || match.begin + end < window.size();
    if (excepted && seen_whole) return KindMatch();
  }
  if (!kind.needs.empty() || kind.entropy_min > 0) {
    std::size_t end = match.end;
    while (end < window.size() && kind.tail.has(window[end])) ++end;
    if (!looks_random(kind, window.substr(match.begin, end - match.begin))) return KindMatch();
  }
  return match;
}

}  // namespace guard
