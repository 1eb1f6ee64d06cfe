#include "egress/keys/value_mask.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace guard {

HiddenValues::HiddenValues(std::vector<std::string> values) : values_(std::move(values)) {
  std::erase(values_, "");
  for (const std::string& value : values_) held_back_ = std::max(held_back_, value.size() - 1);
}

std::string ValueMask::push(std::string_view bytes) {
  held_ += bytes;
  held_masked_ += bytes;
  for (const std::string& value : hidden_->values()) {
    // Quicker than find() where many values are looked for.
    const char* const end = held_.data() + held_.size();
    const auto next = [&](const char* from) {
      return static_cast<const char*>(::memmem(from, static_cast<std::size_t>(end - from), value.data(), value.size()));
    };
    for (const char* found = next(held_.data()); found != nullptr; found = next(found + 1))
      std::fill_n(held_masked_.begin() + (found - held_.data()), value.size(), '*');
  }
  const std::size_t settled = held_.size() - std::min(held_.size(), hidden_->held_back());
  std::string out = held_masked_.substr(0, settled);
  held_.erase(0, settled);
  held_masked_.erase(0, settled);
  return out;
}

std::string ValueMask::finish() {
  held_.clear();
  return std::exchange(held_masked_, {});
}

std::string masked_text(std::string_view text, const HiddenValues& hidden) {
  ValueMask mask(hidden);
  const std::string begun = mask.push(text);
  return begun + mask.finish();
}

}  // namespace guard
