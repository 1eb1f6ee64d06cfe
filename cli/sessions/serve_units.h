// The systemd units of `guard serve install`: the socket, which starts the service when somebody speaks to it. Pure;
// whoever asks for them writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "common/time.h"

namespace guard {

// All paths absolute.
struct ServeUnitRequest {
  std::vector<std::string> command;  // guard and its arguments
  std::string socket;
  std::vector<std::string> writable;                           // folders that are there
  std::vector<std::string> needed;                             // more that has to be seen: the engine's socket
  std::vector<std::pair<std::string, std::string>> variables;  // of the service, PATH say
  milliseconds stop_max{0};                                    // what it may take to stop
};

struct ServeUnit {
  std::string name;
  std::string text;
};

// INPUT_INVALID for what no unit can hold.
Result<std::vector<ServeUnit>> serve_units(const ServeUnitRequest& request);

// How a unit that is there compares with what would be written: its first lines say which guard wrote what.
enum class UnitState : std::uint8_t {
  absent,
  same,
  older,    // as guard wrote it once
  changed,  // by somebody, or it was never guard's
};
UnitState unit_state(std::string_view found, std::string_view wanted);

// What would change: "-" before lines that go, "+" before those that come; the others are left out.
std::string unit_changes(std::string_view found, std::string_view wanted);

}  // namespace guard
