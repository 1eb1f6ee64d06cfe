#include "common/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>

#include "common/text/text.h"

namespace guard {
namespace {

// Null where the log is off. Made at the first word, so that a run without it pays nothing at its start.
spdlog::logger* logger() {
  static const std::shared_ptr<spdlog::logger> instance = []() -> std::shared_ptr<spdlog::logger> {
    const char* wanted = std::getenv("GUARD_LOG");
    if (wanted == nullptr) return nullptr;
    const auto level = spdlog::level::from_str(wanted);  // "off" for a word that it does not know
    if (level == spdlog::level::off) return nullptr;
    auto made = std::make_shared<spdlog::logger>("guard", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(level);
    made->set_pattern("guard: %H:%M:%S.%e %l: %v");
    return made;
  }();
  return instance.get();
}

void log(spdlog::level::level_enum level, std::string_view sentence) {
  spdlog::logger* const target = logger();
  if (target == nullptr || !target->should_log(level)) return;
  // A diagnostic that can't be written must not become a failure of the run; spdlog keeps its own exceptions to itself.
  target->log(level, printable(sentence));
}

}  // namespace

void log_debug(std::string_view sentence) { log(spdlog::level::debug, sentence); }
void log_info(std::string_view sentence) { log(spdlog::level::info, sentence); }

}  // namespace guard
