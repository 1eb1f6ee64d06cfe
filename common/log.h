// Diagnostics for whoever looks for a fault: off unless GUARD_LOG says "debug" or "info"; and a log that was asked for.
// Never a verdict, a finding or a secret: those have their own ways out. The only file that sees spdlog is log.cc.
//
// Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"

namespace spdlog {
class logger;
}

namespace guard {

// Costs one comparison where the log is off.
void log_debug(std::string_view sentence);
void log_info(std::string_view sentence);

// Lines of JSON for programs that watch guard, each an object that begins with its "time" (UTC).
class JsonLog {
 public:
  // "-": standard error. A file is made with mode 0600; at 16 MiB "a.log" becomes "a.1.log", and that "a.2.log".
  // IO_ERROR.
  static Result<JsonLog> open(const std::string& path);

  // `object` is the text of a JSON object with at least one member, on one line. What can't be written is lost.
  void write(std::string_view object) const;

 private:
  explicit JsonLog(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace guard
