#include "redact/kinds/lazy_pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

namespace guard {

LazyPattern::LazyPattern(std::string_view regex) : regex_(regex) {}
LazyPattern::~LazyPattern() = default;

Result<bool> LazyPattern::match(std::string_view text, int group, std::size_t& begin, std::size_t& end) const {
  std::call_once(once_, [this] {
    re2::RE2::Options options;
    options.set_encoding(re2::RE2::Options::EncodingLatin1);  // bytes: the output of programs is often no UTF-8
    options.set_log_errors(false);
    compiled_ = std::make_unique<re2::RE2>(re2::StringPiece(regex_.data(), regex_.size()), options);
  });
  constexpr int kGroupsMax = 4;
  if (!compiled_->ok() || group >= kGroupsMax || group > compiled_->NumberOfCapturingGroups()) {
    return Error(ErrorCode::withheld, fmt::format("the redaction pattern {} can't be used", regex_));
  }
  const re2::StringPiece piece(text.data(), text.size());
  // Most names stand before no value, and without groups that is found out at the first byte that does not fit.
  if (group > 0 && !compiled_->Match(piece, 0, text.size(), re2::RE2::ANCHOR_START, nullptr, 0)) return false;
  re2::StringPiece groups[kGroupsMax];
  if (!compiled_->Match(piece, 0, text.size(), re2::RE2::ANCHOR_START, groups, group + 1)) return false;
  const re2::StringPiece& span = groups[group];
  if (span.data() == nullptr) {
    return Error(ErrorCode::withheld, fmt::format("group {} of the redaction pattern {} took no part", group, regex_));
  }
  begin = static_cast<std::size_t>(span.data() - text.data());
  end = begin + span.size();
  return true;
}

}  // namespace guard
