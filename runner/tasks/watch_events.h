// What a watch of a folder inside says (task_protocol::TaskOperation::watch), read from its output. Foreign bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/enum_names.h"
#include "common/result.h"

namespace guard {

enum class WatchKind : std::uint8_t { begun, create, write, remove, rename, chmod, missed };
template <>
inline constexpr std::array<std::string_view, 7> kNamesOf<WatchKind> = {
    "begun", "create", "write", "remove", "rename", "chmod", "missed"};

// `rename` is of the old name; the new one is a `create`. What is made may be said twice. `missed`: look again.
struct WatchEvent {
  WatchKind kind = WatchKind::missed;
  std::string path;  // below the folder; empty: the folder itself

  bool operator==(const WatchEvent&) const = default;
};

class WatchReader {
 public:
  // The events that are whole by now. PROTOCOL_ERROR.
  Result<std::vector<WatchEvent>> push(std::string_view bytes);

 private:
  std::string pending_;  // never more than one path
};

}  // namespace guard
