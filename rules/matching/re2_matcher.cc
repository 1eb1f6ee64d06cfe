#include "rules/matching/re2_matcher.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>

namespace guard {
namespace {

RE2::Options byte_options() {
  RE2::Options options(RE2::Latin1);  // bytes: a file that is no UTF-8 has to be judged too
  options.set_longest_match(true);
  options.set_log_errors(false);
  return options;
}

// RE2 is asked for a group at most this high: submatches cost, and no rule needs more.
constexpr unsigned kGroupsMax = 15;

// To tell where a match begins, RE2 compiles the regex a second time, backwards. That takes longer than to try so many
// places for each of its bytes, and most patterns that hit do so a few times.
constexpr std::size_t kTriesPerByte = 4;

// Where a match depends on the byte before it, RE2 can't tell its first byte for every place.
bool asserts(std::string_view regex) {
  for (std::size_t at = 0; at < regex.size(); ++at) {
    if (regex[at] == '$' || (regex[at] == '^' && (at == 0 || regex[at - 1] != '['))) return true;
    if (regex[at] == '\\' && ++at < regex.size() && std::string_view("bBAzQ").find(regex[at]) != std::string_view::npos)
      return true;
  }
  return false;
}

}  // namespace

struct Re2Matcher::State {
  explicit State(std::string_view regex)
      : re(re2::StringPiece(regex.data(), regex.size()), byte_options()), tries(kTriesPerByte * regex.size()) {
    std::string first;
    std::string last;
    if (!re.ok() || asserts(regex) || !re.PossibleMatchRange(&first, &last, 1)) return;
    if (!first.empty()) first_min = static_cast<unsigned char>(first[0]);
    if (last.size() == 1) first_max = static_cast<unsigned char>(last[0]);
  }

  bool match(std::string_view text, std::size_t from, std::size_t to, RE2::Anchor anchor, re2::StringPiece* parts,
      unsigned count) const {
    return re.Match({text.data(), text.size()}, from, to, anchor, parts, static_cast<int>(count));
  }

  // Moves `from` to where the leftmost match in [from, to) begins, and tells how far the longest there goes; or, where
  // the tries are used up, to where none begins before.
  bool try_places(std::string_view text, std::size_t& from, std::size_t to, re2::StringPiece& whole) const {
    for (std::size_t left = tries.load(std::memory_order_relaxed); from < to && left > 0; ++from) {
      const auto first = static_cast<unsigned char>(text[from]);
      if (first < first_min || first > first_max) continue;
      tries.store(--left, std::memory_order_relaxed);
      if (match(text, from, to, RE2::ANCHOR_START, &whole, 1)) return true;
    }
    return false;
  }

  RE2 re;
  unsigned char first_min = 0;  // of a match
  unsigned char first_max = 255;
  mutable std::atomic<std::size_t> tries;  // left; threads that count at once count too few
};

Re2Matcher::Re2Matcher(std::unique_ptr<State> state) : state_(std::move(state)) {}
Re2Matcher::Re2Matcher(Re2Matcher&&) noexcept = default;
Re2Matcher& Re2Matcher::operator=(Re2Matcher&&) noexcept = default;
Re2Matcher::~Re2Matcher() = default;

Result<Re2Matcher> Re2Matcher::create(std::string_view regex) {
  try {
    auto state = std::make_unique<State>(regex);
    if (!state->re.ok())
      return Error(ErrorCode::rules_invalid, fmt::format("RE2 refuses the regex: {}", state->re.error()));
    if (state->re.NumberOfCapturingGroups() > static_cast<int>(kGroupsMax)) {
      return Error(ErrorCode::rules_invalid,
          fmt::format("more than {} groups: use (?:...) where nothing is captured", kGroupsMax));
    }
    return Re2Matcher(std::move(state));
  } catch (const std::exception& problem) {
    return Error(ErrorCode::internal, fmt::format("RE2: {}", problem.what()));
  }
}

unsigned Re2Matcher::groups() const noexcept { return static_cast<unsigned>(state_->re.NumberOfCapturingGroups()); }

bool Re2Matcher::matches_empty() const { return RE2::FullMatch("", state_->re); }

Result<bool> Re2Matcher::find(
    std::string_view text, std::size_t from, std::size_t to, unsigned capture, ExactSpan& span) const {
  to = std::min(to, text.size());
  if (from >= to) return false;
  try {
    std::array<re2::StringPiece, kGroupsMax + 1> parts;
    if (!state_->try_places(text, from, to, parts[0])) {
      if (from == to || !state_->match(text, from, to, RE2::UNANCHORED, parts.data(), capture + 1)) return false;
    } else if (capture > 0) {
      to = from + parts[0].size();
      if (!state_->match(text, from, to, RE2::ANCHOR_START, parts.data(), capture + 1)) return false;
    }
    span.begin = static_cast<std::size_t>(parts[0].data() - text.data());
    span.end = span.begin + parts[0].size();
    span.captured_begin = span.begin;
    span.captured_end = span.end;
    const re2::StringPiece& part = parts[capture];
    if (part.data() != nullptr && !part.empty()) {
      span.captured_begin = static_cast<std::size_t>(part.data() - text.data());
      span.captured_end = span.captured_begin + part.size();
    }
    return true;
  } catch (const std::exception& problem) {
    return Error(ErrorCode::internal, fmt::format("RE2: {}", problem.what()));
  }
}

}  // namespace guard
