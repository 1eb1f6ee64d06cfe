// A task of a session, as its caller holds it: the task of the sandbox, and beside it the fact that it is live, which
// makes its session RUNNING. It ends to be live when the task has ended or is given up, whoever looks at it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/result.h"
#include "runner/tasks/open_sandbox.h"
#include "sessions/trace/trace.h"

namespace guard::sessions {

// "exited 0", "signaled 9", "timed_out 5000".
std::string outcome_text(const TaskEnd& end);

// How tasks ended: exited, signaled, timed_out ..., a wire name, or "abandoned". Thread-safe.
class Outcomes {
 public:
  void add(std::string_view outcome);
  std::map<std::string, std::uint64_t> counts() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> counts_;
};

// An operation from the moment that it has its sandbox. Thread-safe. Never calls back, so it may be asked under any
// lock.
class Live {
 public:
  bool ended() const;
  void has(const Task& task);  // it is over when that has ended
  void end();                  // before the task goes, or there is none

 private:
  mutable std::mutex mutex_;
  const Task* task_ = nullptr;
  bool over_ = false;
};

class SessionTask final : public Task {
 public:
  // `step`: null where nobody traces it.
  SessionTask(std::unique_ptr<Task> task, std::shared_ptr<Live> live, std::shared_ptr<Outcomes> outcomes,
      std::unique_ptr<Trace::Step> step = nullptr);
  ~SessionTask() override;

  Result<std::optional<Piece>> read(Deadline deadline) override;
  Result<void> write_input(std::string_view bytes, Deadline deadline) override {
    return task_->write_input(bytes, deadline);
  }
  Result<void> close_input() override { return task_->close_input(); }
  Result<void> signal(int signal_number) override { return task_->signal(signal_number); }
  Result<void> resize(TerminalSize size) override { return task_->resize(size); }
  std::uint32_t pid(Deadline deadline) override { return task_->pid(deadline); }
  bool ended() const override { return task_->ended(); }
  Result<TaskEnd> end() const override { return task_->end(); }

 private:
  void finish_step(bool given_up);

  std::unique_ptr<Task> task_;
  std::shared_ptr<Live> live_;
  std::shared_ptr<Outcomes> outcomes_;
  std::unique_ptr<Trace::Step> step_;
  const SteadyClock::time_point begun_ = SteadyClock::now();
};

}  // namespace guard::sessions
