#include "cli/mcp/trace.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace guard::mcp {
namespace {

constexpr std::size_t kSessionsMax = 1'024;  // the oldest by name are forgotten: their files are then not told anew

std::string line_of(const nlohmann::ordered_json& event) {
  return event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

Result<std::unique_ptr<Trace>> Trace::open(const std::string& file) {
  GUARD_TRY_ASSIGN(JsonLog log, JsonLog::open(file));
  return std::unique_ptr<Trace>(new Trace(std::move(log)));
}

bool Trace::is_new(const std::string& session) const {
  const std::lock_guard lock(mutex_);
  return !sessions_.contains(session);
}

void Trace::begin(const std::string& session, std::span<const sessions::Entry> files) {
  static_cast<void>(made(session, files));
}

void Trace::step(const std::string& session, const nlohmann::ordered_json& step) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++sessions_[session].steps;
  }
  nlohmann::ordered_json event = {{"event", "SKILL_EXECUTION_STEP"}, {"session", session}, {"step", number}};
  event.update(step);
  log_.write(line_of(event));
}

std::vector<sessions::Entry> Trace::made(const std::string& session, std::span<const sessions::Entry> files) {
  const std::lock_guard lock(mutex_);
  if (sessions_.size() >= kSessionsMax && !sessions_.contains(session)) sessions_.erase(sessions_.begin());
  auto& known = sessions_[session].files;
  std::map<std::string, std::pair<std::uint64_t, std::int64_t>> now;
  std::vector<sessions::Entry> found;
  for (const sessions::Entry& file : files) {
    if (file.type != 'f') continue;
    const std::pair state(file.size, file.changed_ns);
    const auto before = known.find(file.path);
    if (before == known.end() || before->second != state) found.push_back(file);
    now[file.path] = state;
  }
  known = std::move(now);
  return found;
}

void Trace::artifact(const std::string& session, const std::string& path, std::uint64_t bytes) {
  log_.write(line_of({{"event", "ARTIFACT_GENERATED"}, {"session", session},
      {"filename", path.substr(path.rfind('/') + 1)}, {"path", "/workspace/" + path}, {"size_bytes", bytes}}));
}

}  // namespace guard::mcp
