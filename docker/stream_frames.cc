#include "docker/stream_frames.h"

#include <fmt/format.h>

#include <algorithm>

namespace guard::docker {
namespace {

constexpr int kStreamMax = 2;  // stdin, stdout, stderr

}  // namespace

Result<void> StreamFrames::push(std::span<const char> bytes) {
  while (!bytes.empty()) {
    if (payload_left_ > 0) {
      const std::size_t size = std::min<std::size_t>(payload_left_, bytes.size());
      GUARD_TRY(handler_(stream_, bytes.first(size)));
      payload_left_ -= static_cast<std::uint32_t>(size);
      bytes = bytes.subspan(size);
      continue;
    }
    header_[header_filled_++] = static_cast<unsigned char>(bytes.front());
    bytes = bytes.subspan(1);
    if (header_filled_ < sizeof header_) continue;

    if (header_[0] > kStreamMax || header_[1] != 0 || header_[2] != 0 || header_[3] != 0) {
      return Error(ErrorCode::protocol_error,
          fmt::format("the engine's stream has a frame that begins {:02x}{:02x}{:02x}{:02x}", header_[0], header_[1],
              header_[2], header_[3]));
    }
    stream_ = header_[0];
    payload_left_ = static_cast<std::uint32_t>(header_[4]) << 24 | static_cast<std::uint32_t>(header_[5]) << 16 |
        static_cast<std::uint32_t>(header_[6]) << 8 | static_cast<std::uint32_t>(header_[7]);
    header_filled_ = 0;
  }
  return ok();
}

Result<void> StreamFrames::finish() {
  if (header_filled_ == 0 && payload_left_ == 0) return ok();
  return Error(ErrorCode::protocol_error, "the engine's stream ended inside a frame");
}

}  // namespace guard::docker
