#include "common/text/time_text.h"

#include <fmt/format.h>

#include <cstdint>

#include "common/text/text.h"

namespace guard {

bool parse_time(std::string_view text, milliseconds& time) {
  constexpr std::uint64_t kSecondsMax = 1'000'000'000;
  const bool in_ms = text.ends_with("ms");
  if (text.ends_with('s')) text.remove_suffix(in_ms ? 2 : 1);
  std::uint64_t number = 0;
  std::uint64_t scale = in_ms ? 1 : 1000;
  if (!take_number(text, number) || number > kSecondsMax) return false;
  number *= scale;
  if (text.size() > 1 && text.front() == '.') {
    text.remove_prefix(1);
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9' && scale > 1; text.remove_prefix(1)) {
      scale /= 10;
      number += scale * static_cast<std::uint64_t>(text.front() - '0');
    }
  }
  if (!text.empty()) return false;
  time = milliseconds(static_cast<std::int64_t>(number));
  return true;
}

std::string time_text(milliseconds time) {
  if (time.count() < 1000 && time.count() != 0) return fmt::format("{} ms", time.count());
  return fmt::format("{} s", static_cast<double>(time.count()) / 1000);
}

}  // namespace guard
