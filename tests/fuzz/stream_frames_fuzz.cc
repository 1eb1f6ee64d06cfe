// However the engine's bytes are cut, StreamFrames says the same: the same payloads or the same refusal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

#include "docker/stream_frames.h"

namespace {

struct Seen {
  std::map<int, std::string> streams;
  bool refused = false;
  bool operator==(const Seen&) const = default;
};

Seen decode(std::span<const char> bytes, std::size_t cut) {
  Seen seen;
  guard::docker::StreamFrames frames([&seen](int stream, std::span<const char> payload) -> guard::Result<void> {
    if (stream < 0 || stream > 2 || payload.empty()) std::abort();
    seen.streams[stream].append(payload.data(), payload.size());
    return guard::ok();
  });
  for (std::size_t at = 0; at < bytes.size() && !seen.refused; at += cut) {
    seen.refused = !frames.push(bytes.subspan(at, std::min(cut, bytes.size() - at)));
  }
  seen.refused = seen.refused || !frames.finish();
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::span bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (!(decode(bytes, bytes.size()) == decode(bytes, 1 + data[0] % 16u))) std::abort();
  return 0;
}
