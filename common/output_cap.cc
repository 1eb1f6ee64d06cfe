// The stream is read as units that are kept whole or not at all: a marker, a UTF-8 character, an escape sequence, or
// one byte of anything else. Only the first `bytes_max` bytes of a run come through here one by one; what follows is
// counted.
#include "common/output_cap.h"

#include <algorithm>

namespace guard {
namespace {

constexpr std::string_view kMarkerStart = "[REDACTED:";
constexpr char kEscape = '\x1b';

// Each answers the size of its unit at the beginning of `text`, or 0 while the unit's end can't be seen.

std::size_t marker_size(std::string_view text) {
  const std::size_t seen = std::min(text.size(), kMarkerStart.size());
  if (text.substr(0, seen) != kMarkerStart.substr(0, seen)) return 1;
  for (std::size_t i = kMarkerStart.size(); i < text.size(); ++i) {
    if (text[i] == ']') return i + 1;
    if (text[i] <= ' ' || text[i] == '[') return 1;
  }
  return 0;
}

std::size_t character_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
  if (lead < 0xc2 || lead > 0xf4) return 1;
  for (std::size_t i = 1; i < size; ++i) {
    if (i >= text.size()) return 0;
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 1;
  }
  return size;
}

// CSI ends with a byte of 0x40 to 0x7e. OSC, DCS, SOS, PM and APC end with BEL or ESC \. An escape that a marker
// follows or cuts short is text: the marker goes first.
std::size_t escape_size(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] == '[') {
    const std::string_view behind = text.substr(1, kMarkerStart.size());
    if (behind == kMarkerStart) return 1;
    if (kMarkerStart.starts_with(behind)) return 0;
    for (std::size_t i = 2; i < text.size(); ++i) {
      if (text[i] == '[') return 1;
      if (text[i] >= '@' && text[i] <= '~') return i + 1;
      if (text[i] < ' ' || text[i] > '?') return 1;
    }
    return 0;
  }
  if (std::string_view("]PX^_").find(text[1]) != std::string_view::npos) {
    for (std::size_t i = 2; i < text.size(); ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == kEscape) return i + 1 == text.size() ? 0 : text[i + 1] == '\\' ? i + 2 : i;
    }
    return 0;
  }
  return text[1] >= '0' && text[1] <= '~' ? 2 : 1;
}

std::size_t unit_size(std::string_view text) {
  text = text.substr(0, OutputCap::kUnitBytesMax);
  const char first = text.front();
  std::size_t size = 1;
  if (first == '[') {
    size = marker_size(text);
  } else if (first == kEscape) {
    size = escape_size(text);
  } else if (static_cast<unsigned char>(first) >= 0x80) {
    size = character_size(text);
  }
  return size == 0 && text.size() == OutputCap::kUnitBytesMax ? 1 : size;  // no end in sight: text
}

}  // namespace

Result<void> OutputCap::push(std::span<const char> bytes) {
  if (budget_.bytes_max_ == 0) {
    budget_.kept_ += bytes.size();
    return out_.push(bytes);
  }
  if (budget_.closed_) {
    drop(carry_.size() + bytes.size());
    carry_.clear();
    return ok();
  }
  // Slices keep a huge push from being copied when its beginning already fills the budget.
  constexpr std::size_t kSliceBytes = 65536;
  if (bytes.size() > kSliceBytes) {
    GUARD_TRY(push(bytes.first(kSliceBytes)));
    for (auto rest = bytes.subspan(kSliceBytes); !rest.empty();
         rest = rest.subspan(std::min(rest.size(), kSliceBytes))) {
      GUARD_TRY(push(rest.first(std::min(rest.size(), kSliceBytes))));
    }
    return ok();
  }
  carry_.append(bytes.data(), bytes.size());
  const std::string_view all = carry_;
  std::size_t fitting = 0;
  while (fitting < all.size()) {
    const std::size_t size = unit_size(all.substr(fitting));
    if (size == 0) break;
    if (budget_.kept_ + fitting + size > budget_.bytes_max_) {
      budget_.closed_ = true;
      break;
    }
    fitting += size;
  }
  GUARD_TRY(keep(all.substr(0, fitting)));
  if (budget_.closed_) {
    drop(carry_.size() - fitting);
    carry_.clear();
  } else {
    carry_.erase(0, fitting);
  }
  return ok();
}

Result<void> OutputCap::keep(std::string_view units) {
  if (units.empty()) return ok();
  budget_.kept_ += units.size();
  return out_.push(units);
}

void OutputCap::drop(std::size_t bytes) {
  budget_.dropped_ += bytes;
  truncated_ = truncated_ || bytes > 0;
}

Result<void> OutputCap::finish() {
  if (budget_.closed_ || budget_.kept_ + carry_.size() > budget_.bytes_max_) {
    budget_.closed_ = budget_.closed_ || !carry_.empty();
    drop(carry_.size());
  } else {
    GUARD_TRY(keep(carry_));
  }
  carry_.clear();
  return out_.finish();
}

}  // namespace guard
