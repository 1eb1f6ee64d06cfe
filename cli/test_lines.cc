#include "cli/test_lines.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace guard {
namespace {

constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"(pass)", "\x1b[32m(pass)\x1b[0m"},
    {"(fail)", "\x1b[31m(fail)\x1b[0m"}, {"(skip)", "\x1b[33m(skip)\x1b[0m"}, {"(todo)", "\x1b[33m(todo)\x1b[0m"}};

bool may_become_a_word(std::string_view begun) {
  return std::any_of(
      std::begin(kWords), std::end(kWords), [&](const auto& word) { return word.first.starts_with(begun); });
}

}  // namespace

Result<void> TestLines::push(std::span<const char> bytes) {
  std::string out;
  for (const char c : bytes) {
    if (at_line_start_) {
      begun_ += c;
      const auto word =
          std::find_if(std::begin(kWords), std::end(kWords), [this](const auto& row) { return row.first == begun_; });
      if (word == std::end(kWords) && may_become_a_word(begun_)) continue;
      out += word == std::end(kWords) ? std::string_view(begun_) : word->second;
      begun_.clear();
    } else {
      out += c;
    }
    at_line_start_ = c == '\n';
  }
  return next_.push(out);
}

Result<void> TestLines::finish() {
  GUARD_TRY(next_.push(std::exchange(begun_, {})));
  return next_.finish();
}

}  // namespace guard
