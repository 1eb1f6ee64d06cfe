// What was done in sandboxes, for programs that watch agents: a line of JSON for each command (SKILL_EXECUTION_STEP)
// and for each file of /workspace that it has made or changed (ARTIFACT_GENERATED).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/log.h"
#include "sessions/entries.h"

namespace guard::mcp {

// Thread-safe.
class Trace {
 public:
  // A file, or "-": standard error. IO_ERROR.
  static Result<std::unique_ptr<Trace>> open(const std::string& file);

  // Whether nothing is known of the session's files yet: those that are there now were not made by the next step.
  bool is_new(const std::string& session) const;
  void begin(const std::string& session, std::span<const sessions::Entry> files);

  // What comes in is masked: `step` has the tool, the command and how it ended.
  void step(const std::string& session, const nlohmann::ordered_json& step);
  // Those of `files` that are new or changed since the last time.
  std::vector<sessions::Entry> made(const std::string& session, std::span<const sessions::Entry> files);
  void artifact(const std::string& session, const std::string& path, std::uint64_t bytes);

 private:
  explicit Trace(JsonLog log) : log_(std::move(log)) {}
  struct Session {
    std::uint64_t steps = 0;
    std::map<std::string, std::pair<std::uint64_t, std::int64_t>> files;  // by path: size, time of change
  };
  JsonLog log_;
  mutable std::mutex mutex_;
  std::map<std::string, Session> sessions_;
};

}  // namespace guard::mcp
