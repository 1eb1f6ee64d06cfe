#include "validator/lex/mapped_text.h"

#include <algorithm>

namespace guard {

void MappedText::clear() noexcept {
  text_.clear();
  pieces_.clear();
}

void MappedText::truncate(std::size_t size) {
  if (size >= text_.size()) return;
  std::size_t end = text_.size();
  text_.resize(size);
  while (!pieces_.empty() && pieces_.back().at >= size) {
    end = pieces_.back().at;
    pieces_.pop_back();
  }
  if (pieces_.empty()) return;
  Piece& last = pieces_.back();
  const bool one_to_one = end - last.at == last.end - last.begin;
  if (one_to_one) last.end = last.begin + static_cast<std::uint32_t>(size - last.at);
}

TextSpan MappedText::original_at(std::size_t at) const noexcept {
  const auto next = std::upper_bound(
      pieces_.begin(), pieces_.end(), at, [](std::size_t value, const Piece& piece) { return value < piece.at; });
  if (next == pieces_.begin()) return {};
  const Piece& piece = *(next - 1);
  const std::size_t size = (next == pieces_.end() ? text_.size() : next->at) - piece.at;
  if (size == piece.end - piece.begin) {
    const std::size_t place = piece.begin + (at - piece.at);
    return {place, place + 1};
  }
  return {piece.begin, piece.end};
}

TextSpan MappedText::original(std::size_t begin, std::size_t end) const noexcept {
  if (text_.empty() || begin >= text_.size()) return {};
  end = std::clamp(end, begin + 1, text_.size());
  const TextSpan first = original_at(begin);
  const TextSpan last = original_at(end - 1);
  const std::size_t from = std::min(first.begin, last.begin);
  return {from, std::max({first.end, last.end, from})};
}

}  // namespace guard
