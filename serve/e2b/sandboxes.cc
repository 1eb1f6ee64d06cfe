#include "serve/e2b/sandboxes.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <set>
#include <utility>

#include "common/threads.h"
#include "runner/process/run_folder.h"

namespace guard::serve::e2b {
namespace {

constexpr milliseconds kReadyMax{120'000};
constexpr milliseconds kUsageMax{30'000};       // half of what the clients wait for an answer
constexpr std::int64_t kRateOverMsMin = 1'000;  // processor time is counted in hundredths of a second

}  // namespace

std::int64_t now_ms() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string time_text(std::int64_t ms) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(ms / 1000)), ms % 1000);
}

double CpuMeter::rate(const sessions::SandboxUsage& usage, std::int64_t now) {
  const std::lock_guard lock(mutex_);
  if (sandbox_ != usage.sandbox) {
    sandbox_ = usage.sandbox;
    older_ = newer_ = {0, usage.started_ms};
  }
  const bool is_apart = now - newer_.at_ms >= kRateOverMsMin;
  if (is_apart) older_ = std::exchange(newer_, {usage.cpu_ms, now});
  // Two that ask at a time may come in the other order.
  const std::uint64_t used = usage.cpu_ms - std::min(usage.cpu_ms, older_.cpu_ms);
  return static_cast<double>(used) / static_cast<double>(std::max(now - older_.at_ms, kRateOverMsMin));
}

Sandboxes::~Sandboxes() {
  stop();
  if (timer_.joinable()) timer_.join();
}

void Sandboxes::stop() {
  std::vector<std::string> ids;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
    for (const auto& [id, sandbox] : all_) ids.push_back(id);
  }
  for (const std::string& id : ids) kill(id);
}

Result<void> Sandboxes::run() {
  remove_left_over();
  GUARD_TRY_ASSIGN(timer_, new_thread([this] { end_in_time(); }));
  return ok();
}

Result<std::shared_ptr<Sandbox>> Sandboxes::create(const std::string& owner, NewSandbox wanted) {
  GUARD_TRY_ASSIGN(const std::string id, new_run_id());
  GUARD_TRY_ASSIGN(const std::string first, new_run_id());
  GUARD_TRY_ASSIGN(const std::string second, new_run_id());
  const milliseconds timeout = wanted.timeout;
  auto made = std::make_shared<Sandbox>(id, first + second, owner, std::move(wanted), now_ms());
  GUARD_TRY_ASSIGN(const auto used, clients_.use(owner, made->session(), [this] {
    std::set<std::string> open;
    const std::lock_guard lock(mutex_);
    for (const auto& [other, sandbox] : all_) open.insert(sandbox->session());
    return open;
  }));
  GUARD_TRY(set_network_(made->session(), made->made.network));  // before it has a sandbox
  if (auto opened = manager_.open(made->session()); !opened) {
    static_cast<void>(set_network_(made->session(), std::nullopt));
    return std::move(opened).error();
  }
  // Not only the session: whoever creates one waits for it here, and not with the first command.
  if (const auto ready = manager_.stat(made->session(), "/workspace", Deadline::after(kReadyMax)); !ready) {
    end(*made);
    return ready.error();
  }
  const auto home = manager_.stat(made->session(), "/home/user", Deadline::after(kReadyMax));
  made->home = home && home->type == 'l' && home->link == "/workspace" ? "/home/user" : "/workspace";
  made->shell = "bun";
  for (const char* shell : {"/bin/sh", "/bin/bash"}) {
    if (manager_.stat(made->session(), shell, Deadline::after(kReadyMax))) made->shell = shell;
  }
  {
    const std::lock_guard lock(mutex_);
    if (!over_) {
      made->end_ms = now_ms() + timeout.count();
      all_[id] = made;
      changed_.notify_all();
      return made;
    }
  }
  end(*made);
  return Error(ErrorCode::environment_unavailable, "guard serve stops");
}

std::shared_ptr<Sandbox> Sandboxes::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(id);
  return found == all_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Sandbox>> Sandboxes::of(const std::string& owner) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Sandbox>> found;
  for (const auto& [id, sandbox] : all_) {
    if (sandbox->owner == owner) found.push_back(sandbox);
  }
  return found;
}

std::int64_t Sandboxes::end_of(const Sandbox& sandbox) const {
  const std::lock_guard lock(mutex_);
  return sandbox.end_ms;
}

void Sandboxes::set_timeout(Sandbox& sandbox, milliseconds timeout, bool only_later) {
  const std::lock_guard lock(mutex_);
  const std::int64_t end = now_ms() + timeout.count();
  if (!only_later || end > sandbox.end_ms) sandbox.end_ms = end;
  changed_.notify_all();
}

NetworkAsked Sandboxes::network_of(const Sandbox& sandbox) const {
  const std::lock_guard lock(mutex_);
  return sandbox.network;
}

Result<void> Sandboxes::set_network(Sandbox& sandbox, NetworkAsked asked) {
  const std::lock_guard lock(mutex_);
  if (!all_.contains(sandbox.id)) return Error(ErrorCode::file_not_found, "the sandbox has ended");
  GUARD_TRY(set_network_(sandbox.session(), asked));
  sandbox.network = std::move(asked);
  return ok();
}

bool Sandboxes::kill(const std::string& id) {
  std::shared_ptr<Sandbox> ended;
  {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(id);
    if (found == all_.end()) return false;
    ended = std::move(found->second);
    all_.erase(found);
  }
  end(*ended);
  return true;
}

Result<std::unique_ptr<Task>> Sandboxes::start(const Sandbox& sandbox, const TaskSpec& spec) {
  GUARD_TRY_ASSIGN(auto admitted, clients_.admit(sandbox.owner, {.tasks = 1}, SteadyClock::now()));
  GUARD_TRY_ASSIGN(auto task, manager_.start(sandbox.session(), spec));
  task->keep(std::move(admitted));
  return task;
}

Result<std::optional<sessions::SandboxUsage>> Sandboxes::usage(const Sandbox& sandbox) {
  GUARD_TRY_ASSIGN(const auto admitted, clients_.admit(sandbox.owner, {.tasks = 1}, SteadyClock::now()));
  return manager_.usage(sandbox.session(), Deadline::after(kUsageMax));
}

// What could not be removed is tried again by the manager, and reaches nothing meanwhile.
void Sandboxes::end(Sandbox& sandbox) {
  sandbox.over = true;
  sandbox.processes.end();
  sandbox.contexts.end();
  static_cast<void>(set_network_(sandbox.session(), NetworkAsked{std::vector<std::string>(), {}}));
  if (manager_.close(sandbox.session(), sessions::Workspace::remove))
    static_cast<void>(set_network_(sandbox.session(), std::nullopt));
}

// Nobody can name them any more: a client's sandbox ends with the server that had made it.
void Sandboxes::remove_left_over() {
  for (const auto& one : manager_.sessions()) {
    if (sessions::tenant_of(one.row.id) != "e2b") continue;
    const std::string id = one.row.id.substr(one.row.id.find('/') + 1);
    if (!find(id)) static_cast<void>(manager_.close(one.row.id, sessions::Workspace::remove));
  }
}

void Sandboxes::end_in_time() {
  std::list<Ending> endings;  // side by side: one may take long
  std::unique_lock lock(mutex_);
  while (!over_) {
    const std::int64_t now = now_ms();
    std::int64_t next = now + 3'600'000;
    std::vector<std::shared_ptr<Sandbox>> due;
    std::erase_if(all_, [&](const auto& one) {
      if (one.second->end_ms <= now) due.push_back(one.second);
      next = std::min(next, one.second->end_ms);
      return one.second->end_ms <= now;
    });
    if (due.empty()) {
      changed_.wait_for(lock, milliseconds(std::max<std::int64_t>(next - now, 1)));
      continue;
    }
    lock.unlock();
    endings.remove_if([](Ending& one) { return one.over ? one.thread.join(), true : false; });
    for (const auto& sandbox : due) {
      Ending& ending = endings.emplace_back();
      auto thread = new_thread([this, sandbox, &ending] {
        end(*sandbox);
        ending.over = true;
      });
      if (thread) {
        ending.thread = std::move(*thread);
      } else {
        endings.pop_back();
        end(*sandbox);
      }
    }
    lock.lock();
  }
  lock.unlock();
  for (Ending& one : endings) one.thread.join();
}

}  // namespace guard::serve::e2b
