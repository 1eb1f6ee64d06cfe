// Diagnostics for whoever looks for a fault: off unless GUARD_LOG says "debug" or "info". Never a verdict, a finding or
// a secret: those have their own ways out. The only file that sees spdlog is log.cc.
//
// Thread-safe.
#pragma once

#include <string_view>

namespace guard {

// Costs one comparison where the log is off.
void log_debug(std::string_view sentence);
void log_info(std::string_view sentence);

}  // namespace guard
