// Decodes the engine's attach stream: frames of an 8-byte header (stream number 0..2, three zero bytes, length u32
// big-endian) and a payload. Foreign bytes: PROTOCOL_ERROR on anything else, never a guess.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "common/result.h"

namespace guard::docker {

class StreamFrames {
 public:
  using Handler = std::function<Result<void>(int stream, std::span<const char> bytes)>;
  explicit StreamFrames(Handler handler) : handler_(std::move(handler)) {}

  // Hands payload bytes on as they come; frames are not put together first.
  Result<void> push(std::span<const char> bytes);
  // PROTOCOL_ERROR if the stream ended inside a frame.
  Result<void> finish();

 private:
  Handler handler_;
  unsigned char header_[8] = {};
  std::size_t header_filled_ = 0;
  std::uint32_t payload_left_ = 0;
  int stream_ = 0;
};

}  // namespace guard::docker
