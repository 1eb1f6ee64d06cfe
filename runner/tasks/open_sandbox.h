// A sandbox that stays open: tasks run in it one after another or side by side, each with its own environment, folder
// and streams, until it is closed. It belongs to one user of it (sessions/), from whom it never goes on to another.
//
// Thread-safe, all of it. A Task may outlive its OpenSandbox; it then says that the sandbox is gone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "common/time.h"
#include "runner/process/exec_result.h"
#include "runner/tasks/task_protocol.h"

namespace guard {

using task_protocol::TaskOperation;

struct TerminalSize {
  std::uint16_t rows = 24;
  std::uint16_t columns = 80;
};

struct TaskSpec {
  TaskOperation kind = TaskOperation::program;
  std::vector<std::string> argv;           // no shell; of an operation: what runner/tasks/task_protocol.h says
  std::map<std::string, std::string> env;  // complete: nothing is inherited, and nothing stays for the next task
  std::string working_dir = "/workspace";
  bool input = false;  // else it reads /dev/null
  std::optional<TerminalSize> terminal;
  milliseconds timeout{0};  // 0: none; then TERM, and after `grace` KILL, to all that it started
  milliseconds grace{10'000};
  // What a trace calls the program, in place of argv; empty: nothing, it is no step. For `guard serve`, not for init.
  std::optional<std::string> title;
};

struct TaskEnd {
  Outcome outcome;  // exited, signaled, timed_out, or violation where its keeper was killed
  milliseconds elapsed{0};
  milliseconds cpu{0};
  std::uint64_t max_rss_bytes = 0;
};

class Task {
 public:
  struct Piece {
    enum class Stream : std::uint8_t { out, err };
    Stream stream = Stream::out;
    std::string bytes;  // never empty, but once where the other side of a connection has closed its half
  };

  virtual ~Task() = default;  // kills what still runs of it

  // Lives as long as this: what the task counts against. Before anybody else has it.
  void keep(std::shared_ptr<void> thing) { kept_ = std::move(thing); }

  // The next piece of its output, in order per stream; nothing once it has ended and all was read. Whoever does not
  // call this holds up this task only. EXECUTION_TIMEOUT when `deadline` passes first (nothing is lost by that);
  // ENVIRONMENT_UNAVAILABLE when the sandbox has gone.
  virtual Result<std::optional<Piece>> read(Deadline deadline) = 0;

  // Waits for room. Bytes for a program that does not read any more are dropped, as by a pipe. EXECUTION_TIMEOUT: of
  // up to task_protocol::kInputPieceBytes none has left then; of more, perhaps some.
  virtual Result<void> write_input(std::string_view bytes, Deadline deadline) = 0;
  virtual Result<void> close_input() = 0;

  virtual Result<void> signal(int signal_number) = 0;
  virtual Result<void> resize(TerminalSize size) = 0;

  // Of a program, as those inside know it; others may have it once this one has ended. 0: there is none, or none is
  // known by then.
  virtual std::uint32_t pid(Deadline) { return 0; }

  virtual bool ended() const = 0;

  // Once read() has answered nothing. FILE_NOT_FOUND, EXECUTION_FAILED: it could not be started, or the operation
  // failed (detail "errno"); ENVIRONMENT_UNAVAILABLE: the sandbox went meanwhile.
  virtual Result<TaskEnd> end() const = 0;

 private:
  std::shared_ptr<void> kept_;
};

// Wherever it is started: in a sandbox at hand, or by `guard serve` (serve/task_stream.h). Thread-safe.
using StartTask = std::function<Result<std::unique_ptr<Task>>(const TaskSpec& spec)>;

class OpenSandbox {
 public:
  virtual ~OpenSandbox() = default;  // close() without grace

  // EXECUTION_FAILED (detail "limit") where task_protocol::kTasksMax run already; ENVIRONMENT_UNAVAILABLE once it is
  // gone; INPUT_INVALID.
  virtual Result<std::unique_ptr<Task>> start(const TaskSpec& spec) = 0;

  virtual bool alive() const = 0;
  // Why it is not alive; nothing while it is, and after close().
  virtual std::optional<Error> fault() const = 0;
  // Called once, from a thread of the sandbox's own, when it has gone without close().
  virtual void on_end(std::function<void()> call) = 0;

  virtual std::size_t running() const = 0;  // tasks that have not ended

  // TERM to every task; KILL after `grace`; then the sandbox goes. An Error where something of it could not be removed.
  virtual Result<void> close(milliseconds grace) = 0;

  virtual const std::map<std::string, std::string>& seen_inside() const = 0;  // init's hello
  virtual const std::map<std::string, std::string>& enforced_by() const = 0;  // as ExecResult::enforced_by

  // Lives as long as this: what the sandbox stands on. Before anybody else has it.
  void keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }

 private:
  std::vector<std::shared_ptr<void>> kept_;  // goes behind the sandbox
};

// What is left of a task to its end, its output kept up to `bytes_max` per stream; the rest is read and dropped.
// EXECUTION_TIMEOUT when `deadline` passes first.
struct TaskOutput {
  TaskEnd end;
  std::string out;
  std::string err;
  bool cut = false;
};
Result<TaskOutput> collect(Task& task, std::size_t bytes_max, Deadline deadline);
Result<TaskOutput> run_task(OpenSandbox& sandbox, const TaskSpec& spec, std::size_t bytes_max, Deadline deadline);

}  // namespace guard
