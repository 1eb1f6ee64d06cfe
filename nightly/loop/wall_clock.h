// The time of day, as the journal keeps it and as people read it.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>

namespace guard::nightly {

// Milliseconds since 1970 (UTC).
inline std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// UTC, by strftime(3); "-" for no time at all.
inline std::string utc_text(std::int64_t ms, const char* format) {
  const std::time_t seconds = static_cast<std::time_t>(ms / 1'000);
  std::tm parts{};
  if (ms <= 0 || ::gmtime_r(&seconds, &parts) == nullptr) return "-";
  char text[64];
  const std::size_t size = std::strftime(text, sizeof text, format, &parts);
  return size == 0 ? std::string("-") : std::string(text, size);
}

}  // namespace guard::nightly
