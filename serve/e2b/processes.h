// Programs of a sandbox that several callers can listen to: whoever has started one may go, and come back. Nothing is
// kept for later: who listens gets what comes from then on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/result.h"
#include "common/time.h"
#include "runner/tasks/open_sandbox.h"

namespace guard::serve::e2b {

struct ProcessConfig {
  std::string cmd;
  std::vector<std::string> args;
  std::map<std::string, std::string> envs;
  std::string cwd;
  std::string tag;
  bool terminal = false;
};

// Thread-safe.
class Process {
 public:
  // Reads nothing of the task before run().
  Process(std::uint32_t inside, ProcessConfig started, std::unique_ptr<Task> task)
      : pid(inside), config(std::move(started)), task_(std::move(task)) {}
  ~Process();  // kills it
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  const std::uint32_t pid;
  const ProcessConfig config;

  // Whoever listens and does not read holds the program up, as a pipe would.
  class Listener {
   public:
    explicit Listener(Process& process);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // The next piece; nothing once it has ended. EXECUTION_TIMEOUT when `deadline` passes first.
    Result<std::optional<Task::Piece>> next(Deadline deadline);

   private:
    friend class Process;
    Process& process_;
    std::deque<Task::Piece> pieces_;
    std::size_t bytes_ = 0;
  };

  Result<void> run();  // once
  bool ended() const;
  Result<TaskEnd> end() const { return task_->end(); }  // once a listener got nothing
  Task& task() noexcept { return *task_; }

 private:
  void read_all();
  bool has_room() const;

  std::unique_ptr<Task> task_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Listener*> listeners_;
  bool over_ = false;      // nothing comes any more
  bool stopping_ = false;  // it is to be given up
  std::thread reader_;
};

// Of one sandbox. Thread-safe.
class Processes {
 public:
  // Not run yet. From now on whoever asks for `pid` gets this one: an earlier one of that number has ended, whether all
  // of it was read or not.
  std::shared_ptr<Process> add(std::uint32_t pid, ProcessConfig config, std::unique_ptr<Task> task);
  std::vector<std::shared_ptr<Process>> live();  // the oldest first
  void remove(const Process& process);
  std::shared_ptr<Process> find(std::optional<std::uint32_t> pid, const std::string& tag);  // null: none that lives
  void end();                                                                               // all of them

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Process>> all_;  // as they were added
};

}  // namespace guard::serve::e2b
