#include "common/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "common/text/text.h"
#include "common/unique_fd.h"

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

Result<JsonLog> JsonLog::open(const std::string& path) {
  constexpr std::size_t kBytesMax = 16u << 20;
  constexpr std::size_t kOlderMax = 2;
  spdlog::sink_ptr sink;
  try {
    if (path == "-") {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      spdlog::file_event_handlers handlers;
      // Made for our own eyes; what is there already keeps its mode.
      handlers.before_open = [](const spdlog::filename_t& name) {
        const UniqueFd made(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
      };
      sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(path, kBytesMax, kOlderMax, false, handlers);
    }
  } catch (const spdlog::spdlog_ex& failure) {
    return Error(ErrorCode::io_error, fmt::format("opening the log: {}", printable(failure.what())));
  }
  auto made = std::make_shared<spdlog::logger>("guard", std::move(sink));
  made->flush_on(spdlog::level::info);
  made->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v)", spdlog::pattern_time_type::utc);
  return JsonLog(std::move(made));
}

void JsonLog::write(std::string_view object) const { logger_->info(object.substr(1)); }

}  // namespace guard
