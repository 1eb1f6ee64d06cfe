#include "rules/matching/re2_matcher.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
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

}  // namespace

struct Re2Matcher::State {
  explicit State(std::string_view regex) : re(re2::StringPiece(regex.data(), regex.size()), byte_options()) {}
  RE2 re;
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
    const re2::StringPiece whole(text.data(), text.size());
    if (!state_->re.Match(whole, from, to, RE2::UNANCHORED, parts.data(), static_cast<int>(capture) + 1)) return false;
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
