#include "egress/value_mask.h"

#include <algorithm>

namespace guard {
namespace {

constexpr std::size_t kLetOutMax = 3;

// The longest end of `text` that is the beginning of `value`, and not all of it.
std::size_t begun(std::string_view text, std::string_view value) {
  for (std::size_t size = std::min(text.size(), value.size() - 1); size > 0; --size) {
    if (text.ends_with(value.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace

ValueMask::ValueMask(std::vector<std::string> values) : values_(std::move(values)) { std::erase(values_, ""); }

std::string ValueMask::push(std::string_view bytes) {
  const std::string text = carry_ + std::string(bytes);
  std::string masked = carry_masked_ + std::string(bytes);
  std::size_t keep = 0;
  for (const std::string& value : values_) {
    std::size_t from = 0;
    for (std::size_t at = 0; (at = text.find(value, from)) != std::string::npos; from = at + 1)
      std::fill_n(masked.begin() + static_cast<std::ptrdiff_t>(at), value.size(), '*');
    keep = std::max(keep, begun(std::string_view(text), value));
  }
  const std::size_t settled = text.size() - keep;
  const std::size_t end = keep > kLetOutMax ? settled : text.size();
  std::string out = end > let_out_ ? masked.substr(let_out_, end - let_out_) : std::string();
  let_out_ = std::max(end, let_out_) - settled;
  carry_ = text.substr(settled);
  carry_masked_ = masked.substr(settled);
  return out;
}

std::string ValueMask::finish() {
  std::string rest(carry_.size() - let_out_, '*');
  carry_.clear();
  carry_masked_.clear();
  let_out_ = 0;
  return rest;
}

}  // namespace guard
