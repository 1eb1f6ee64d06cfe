#include "tests/support/sessions/scripted_sandboxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <thread>

namespace guard::sessions {

namespace fs = std::filesystem;

struct ScriptedSandboxes::World {
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::size_t fail_starts = 0;
  std::string why;
  bool hang_starts = false;
  bool fail_closes = false;
  bool spoil = false;
  std::set<std::string> sick;
  std::set<std::string> alive;
  std::map<std::string, std::function<void()>> on_end;
  std::map<std::string, std::set<std::string>> callers;
  std::uint64_t sleepers_stopped = 0;
  std::size_t started = 0;
  std::size_t starting = 0;
  std::size_t starting_max = 0;
};

std::shared_ptr<ScriptedSandboxes::World> ScriptedSandboxes::make_world() { return std::make_shared<World>(); }

namespace {
struct Work {
  std::deque<Task::Piece> pieces;
  bool sleeps = false;  // until it is ended
  bool takes_input = false;
  bool lingers = false;  // says late that its sandbox has gone
  Result<TaskEnd> end = TaskEnd{};
};
}  // namespace

class ScriptedSandboxes::Program final : public Task {
 public:
  Program(std::shared_ptr<World> world, std::string sandbox, Work work, fs::path target)
      : world_(std::move(world)),
        sandbox_(std::move(sandbox)),
        work_(std::move(work)),
        target_(std::move(target)),
        stopped_before_(world_->sleepers_stopped) {}

  Result<std::optional<Piece>> read(Deadline deadline) override {
    std::unique_lock lock(world_->mutex);
    for (;;) {
      if (world_->alive.count(sandbox_) == 0 && !killed_) {
        lock.unlock();
        if (work_.lingers) std::this_thread::sleep_for(milliseconds(100));
        return gone();
      }
      if (!work_.pieces.empty()) {
        Piece piece = std::move(work_.pieces.front());
        work_.pieces.pop_front();
        return std::optional<Piece>(std::move(piece));
      }
      if (has_ended()) return std::optional<Piece>();
      if (deadline.passed()) return Error(ErrorCode::execution_timeout, "nothing came");
      world_->changed.wait_for(lock, std::min(deadline.remaining(), milliseconds(20)));
    }
  }
  Result<void> write_input(std::string_view bytes, Deadline) override {
    const std::lock_guard lock(world_->mutex);
    input_ += bytes;
    return ok();
  }
  Result<void> close_input() override {
    if (!target_.empty()) {
      GUARD_TRY(make_folders(target_.parent_path()));
      GUARD_TRY(write_file_atomically(target_, input_));
    }
    const std::lock_guard lock(world_->mutex);
    work_.takes_input = false;
    world_->changed.notify_all();
    return ok();
  }
  Result<void> signal(int number) override {
    const std::lock_guard lock(world_->mutex);
    if (!has_ended()) {
      work_.sleeps = false;
      killed_ = true;
      work_.end = TaskEnd{{OutcomeKind::signaled, number, {}}, milliseconds(1), {}, 0};
    }
    world_->changed.notify_all();
    return ok();
  }
  Result<void> resize(TerminalSize) override { return ok(); }
  bool ended() const override {
    const std::lock_guard lock(world_->mutex);
    return has_ended();
  }
  Result<TaskEnd> end() const override {
    const std::lock_guard lock(world_->mutex);
    if ((work_.sleeps || work_.takes_input) && world_->alive.count(sandbox_) == 0) return gone();
    return work_.end;
  }

 private:
  static Error gone() { return Error(ErrorCode::environment_unavailable, "the sandbox has gone"); }
  bool has_ended() const {
    const bool waits = (work_.sleeps && world_->sleepers_stopped == stopped_before_) || work_.takes_input;
    return !waits || world_->alive.count(sandbox_) == 0;
  }

  std::shared_ptr<World> world_;
  std::string sandbox_;
  Work work_;
  fs::path target_;
  std::uint64_t stopped_before_;
  std::string input_;
  bool killed_ = false;
};

class ScriptedSandboxes::Sandbox final : public OpenSandbox {
 public:
  Sandbox(std::shared_ptr<World> world, std::string id, fs::path workspace)
      : world_(std::move(world)), id_(std::move(id)), workspace_(std::move(workspace)) {}
  ~Sandbox() override {
    const std::lock_guard lock(world_->mutex);
    world_->alive.erase(id_);
    world_->changed.notify_all();
  }

  Result<std::unique_ptr<Task>> start(const TaskSpec& spec) override {
    const std::lock_guard lock(world_->mutex);
    if (world_->alive.count(id_) == 0) return Error(ErrorCode::environment_unavailable, "the sandbox has gone");
    if (const auto user = spec.env.find("USER_OF"); user != spec.env.end()) world_->callers[id_].insert(user->second);
    fs::path target;
    Work work = spec.kind == TaskOperation::program ? run(spec) : operate(spec, target);
    return std::unique_ptr<Task>(std::make_unique<Program>(world_, id_, std::move(work), std::move(target)));
  }
  bool alive() const override {
    const std::lock_guard lock(world_->mutex);
    return world_->alive.count(id_) > 0;
  }
  std::optional<Error> fault() const override {
    if (alive()) return std::nullopt;
    return Error(ErrorCode::environment_unavailable, "init was killed");
  }
  void on_end(std::function<void()> call) override {
    const std::lock_guard lock(world_->mutex);
    world_->on_end[id_] = std::move(call);
  }
  std::size_t running() const override { return 0; }
  Result<void> close(milliseconds) override {
    const std::lock_guard lock(world_->mutex);
    world_->alive.erase(id_);
    world_->changed.notify_all();
    if (world_->fail_closes) return Error(ErrorCode::io_error, "a cgroup could not be removed");
    return ok();
  }
  const std::map<std::string, std::string>& seen_inside() const override { return none_; }
  const std::map<std::string, std::string>& enforced_by() const override { return none_; }

 private:
  fs::path outside(const std::string& path) const {
    constexpr std::string_view kHome = "/workspace/";
    return workspace_ / (path.rfind(kHome, 0) == 0 ? path.substr(kHome.size()) : path);
  }
  static Work said(std::string text) {
    Work work;
    if (!text.empty()) work.pieces.push_back({Task::Piece::Stream::out, std::move(text)});
    return work;
  }
  Work of_file(const fs::path& path) const {
    auto bytes = read_file(path, 64u << 20);
    if (bytes) return said(std::move(*bytes));
    Work work;
    work.end = bytes.error();
    return work;
  }
  Work run(const TaskSpec& spec) const {
    const std::string& word = spec.argv.at(0);
    Work work;
    if (word == "exit") work.end = TaskEnd{{OutcomeKind::exited, std::stoll(spec.argv.at(1)), {}}, {}, {}, 0};
    if (word == "write") {
      if (auto written = write_file_atomically(outside(spec.argv.at(1)), spec.argv.at(2)); !written)
        work.end = written.error();
    }
    if (word == "read") return of_file(outside(spec.argv.at(1)));
    if (word == "say") return said(spec.argv.at(1));
    if (word == "flood") return said(std::string(std::stoul(spec.argv.at(1)), 'x'));
    work.lingers = word == "linger";
    work.sleeps = word == "sleep" || work.lingers;
    return work;
  }
  Work operate(const TaskSpec& spec, fs::path& target) const {
    Work work;
    std::error_code error;
    switch (spec.kind) {
      case TaskOperation::usage: {
        if (!spec.argv.empty()) {
          std::uintmax_t bytes = 0;
          for (const auto& entry : fs::recursive_directory_iterator(workspace_, error))
            bytes += entry.is_regular_file() ? entry.file_size() : 0;
          return said(fmt::format("processes=1\nmemory_bytes=7\ncpu_ms=30\nworkspace_bytes={}\ntmp_bytes=5\n", bytes));
        }
        work.sleeps = world_->sick.count(id_) > 0;
        break;
      }
      case TaskOperation::put:
        target = outside(spec.argv.at(0));
        work.takes_input = true;
        break;
      case TaskOperation::get: return of_file(outside(spec.argv.at(0)));
      case TaskOperation::stat:
      case TaskOperation::list: {
        std::string records;
        if (spec.kind == TaskOperation::stat && spec.argv.at(0) == "/workspace")
          return said(std::string("d 700 0 0\0workspace\0", 20) + '\0');
        for (const auto& entry : fs::directory_iterator(workspace_, error)) {
          const std::string name = entry.path().filename().string();
          if (spec.kind == TaskOperation::stat && outside(spec.argv.at(0)) != entry.path()) continue;
          records +=
              fmt::format("f 644 {} 0", entry.is_regular_file() ? entry.file_size() : 0) + '\0' + name + '\0' + '\0';
        }
        return said(std::move(records));
      }
      case TaskOperation::move: fs::rename(outside(spec.argv.at(0)), outside(spec.argv.at(1)), error); break;
      case TaskOperation::remove: fs::remove_all(outside(spec.argv.at(0)), error); break;
      case TaskOperation::make_folder: fs::create_directories(outside(spec.argv.at(0)), error); break;
      case TaskOperation::watch:
      case TaskOperation::connect:
      case TaskOperation::program: break;
    }
    if (error) work.end = Error(ErrorCode::file_not_found, error.message());
    return work;
  }

  std::shared_ptr<World> world_;
  std::string id_;
  fs::path workspace_;
  std::map<std::string, std::string> none_;
};

SandboxFactory ScriptedSandboxes::factory() {
  return [world = world_](const std::string& id, const fs::path& workspace) -> Result<std::unique_ptr<OpenSandbox>> {
    std::unique_lock lock(world->mutex);
    world->starting_max = std::max(world->starting_max, ++world->starting);
    world->changed.wait(lock, [&] { return !world->hang_starts; });
    --world->starting;
    if (world->fail_starts > 0) {
      --world->fail_starts;
      Error error(ErrorCode::environment_creation_failed, "no sandbox today");
      return world->why.empty() ? error : Error(std::move(error).detail(world->why, "x"));
    }
    ++world->started;
    world->alive.insert(id);
    if (world->spoil) GUARD_TRY(write_new_file(workspace / "spoilt", "x"));
    return std::unique_ptr<OpenSandbox>(std::make_unique<Sandbox>(world, id, workspace));
  };
}

void ScriptedSandboxes::fail_starts(std::size_t count, std::string why) {
  const std::lock_guard lock(world_->mutex);
  world_->why = std::move(why);
  world_->fail_starts = count;
}
void ScriptedSandboxes::hang_starts(bool on) {
  const std::lock_guard lock(world_->mutex);
  world_->hang_starts = on;
  world_->changed.notify_all();
}
void ScriptedSandboxes::fail_closes(bool on) {
  const std::lock_guard lock(world_->mutex);
  world_->fail_closes = on;
}
void ScriptedSandboxes::sicken(const std::string& sandbox) {
  const std::lock_guard lock(world_->mutex);
  world_->sick.insert(sandbox);
}
void ScriptedSandboxes::kill(const std::string& sandbox) {
  std::unique_lock lock(world_->mutex);
  world_->alive.erase(sandbox);
  world_->changed.notify_all();
  const auto call = std::exchange(world_->on_end[sandbox], {});
  lock.unlock();
  if (call) call();
}
void ScriptedSandboxes::stop_sleepers() {
  const std::lock_guard lock(world_->mutex);
  ++world_->sleepers_stopped;
  world_->changed.notify_all();
}
void ScriptedSandboxes::spoil_workspaces(bool on) {
  const std::lock_guard lock(world_->mutex);
  world_->spoil = on;
}
std::vector<std::string> ScriptedSandboxes::alive() const {
  const std::lock_guard lock(world_->mutex);
  return {world_->alive.begin(), world_->alive.end()};
}
std::size_t ScriptedSandboxes::started() const {
  const std::lock_guard lock(world_->mutex);
  return world_->started;
}
std::size_t ScriptedSandboxes::starting_max() const {
  const std::lock_guard lock(world_->mutex);
  return world_->starting_max;
}
std::map<std::string, std::set<std::string>> ScriptedSandboxes::callers() const {
  const std::lock_guard lock(world_->mutex);
  return world_->callers;
}

TaskSpec program(std::vector<std::string> argv, const std::string& session) {
  TaskSpec spec;
  spec.argv = std::move(argv);
  if (!session.empty()) spec.env["USER_OF"] = session;
  return spec;
}

}  // namespace guard::sessions
