// Text made out of other text, with the way back: any span of it answers the span of the original that it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace guard {

struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class MappedText {
 public:
  void clear() noexcept;
  // `text` stands for the original bytes [begin, end). Where the sizes are equal the bytes map one to one.
  void append(std::string_view text, std::uint32_t begin, std::uint32_t end) {
    if (text.empty()) return;
    const auto at = static_cast<std::uint32_t>(text_.size());
    // Most pieces go on where the last one ended, byte for byte.
    const bool goes_on = !pieces_.empty() && pieces_.back().end == begin && text.size() == end - begin &&
        at - pieces_.back().at == pieces_.back().end - pieces_.back().begin;
    if (goes_on) {
      pieces_.back().end = end;
    } else {
      pieces_.push_back({at, begin, end});
    }
    text_.append(text);
  }
  // Drops everything from `size` on.
  void truncate(std::size_t size);

  // Room for `size` bytes in all.
  void reserve(std::size_t size) { text_.reserve(size); }

  const std::string& text() const& noexcept { return text_; }
  std::string text() && noexcept { return std::move(text_); }
  std::size_t size() const noexcept { return text_.size(); }

  // The original of [begin, end); begin <= end, also where pieces were moved around.
  TextSpan original(std::size_t begin, std::size_t end) const noexcept;

 private:
  struct Piece {
    std::uint32_t at;  // where it begins in text_
    std::uint32_t begin;
    std::uint32_t end;
  };
  TextSpan original_at(std::size_t at) const noexcept;

  std::string text_;
  std::vector<Piece> pieces_;
};

}  // namespace guard
