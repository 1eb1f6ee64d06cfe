// Sandboxes that are none: their programs are a few words, which work on the workspace folder itself. They fail where
// and when a test says so.
//
//   true | exit N | write NAME TEXT | read NAME | say TEXT | flood BYTES | sleep (until stop_sleepers(), TERM or close)
//   | linger (as sleep, but what reads it learns late that the sandbox has gone)
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/file_io.h"
#include "runner/tasks/open_sandbox.h"
#include "sessions/manager.h"

namespace guard::sessions {

class FakeClock final : public Clock {
 public:
  std::int64_t now_ms() const override { return now_.load(); }
  void advance(milliseconds span) { now_ += span.count(); }

 private:
  std::atomic<std::int64_t> now_{1'800'000'000'000};
};

class ScriptedSandboxes {
 public:
  class Sandbox;
  class Program;

  SandboxFactory factory();

  // All of these from any thread, at any time.
  void fail_starts(std::size_t count, std::string why = {});  // the next ones; `why`: a detail of the Error
  void hang_starts(bool on);                                  // until it is switched off
  void fail_closes(bool on);
  void sicken(const std::string& sandbox);  // its health check hangs from now on
  void kill(const std::string& sandbox);    // it dies
  void stop_sleepers();
  void spoil_workspaces(bool on);  // new sandboxes have a file in their workspace
  std::vector<std::string> alive() const;
  std::size_t started() const;
  std::size_t starting_max() const;                              // how many side by side, at most
  std::map<std::string, std::set<std::string>> callers() const;  // sandbox -> values of USER_OF that ran in it

 private:
  struct World;
  std::shared_ptr<World> world_ = make_world();
  static std::shared_ptr<World> make_world();
};

TaskSpec program(std::vector<std::string> argv, const std::string& session = {});

}  // namespace guard::sessions
