// Sessions: each has a workspace of its own and, while it is used, a sandbox of its own, which comes from a pool of
// ready ones or is started on demand. A sandbox belongs to the first session that gets it, for good; the workspace goes
// on from one sandbox to the next of the same session, over restarts and crashes of guard.
//
// Order: open(), then any operation on the session, side by side as one likes, then close(). A sandbox is started only
// when an operation needs it. Two operations of one session wait for the same start; sessions do not wait for each
// other. What a session's sandbox dies of ends its commands; the session is ERROR then, and its next operation gets
// another sandbox, with the workspace. The same holds for a session that was closed with its workspace kept, or ended
// by a sweep (TERMINATED).
//
// Errors: INPUT_INVALID (an id or path; with the detail "limit" what is too much), FILE_NOT_FOUND (no such session,
// command or file; a session that is being removed), EXECUTION_TIMEOUT (waiting for somebody else's work on the session
// took Options::wait_max), ENVIRONMENT_UNAVAILABLE (the sandbox went meanwhile; guard is stopping), IO_ERROR (ledger,
// folders), and those of the factory.
//
// Thread-safe, but for construction and destruction. Tasks may outlive the manager; their sandboxes are gone then.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "common/time.h"
#include "runner/tasks/open_sandbox.h"
#include "sessions/entries.h"
#include "sessions/estate.h"
#include "sessions/policy.h"
#include "sessions/session_values.h"
#include "sessions/trace/trace.h"

namespace guard::sessions {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t now_ms() const = 0;  // since 1970; from any thread
};

// Starts a sandbox with the folder `workspace` (ours, 0700, empty) as /workspace, gives the folder to the user inside,
// and labels what an engine may keep of it with `id`. Called from several threads; ends by a deadline of its own.
using SandboxFactory =
    std::function<Result<std::unique_ptr<OpenSandbox>>(const std::string& id, const std::filesystem::path& workspace)>;

enum class Workspace : std::uint8_t { keep, remove };

struct Options {
  Policy policy;
  std::size_t sessions_max = 256;  // that are not TERMINATED
  std::size_t sessions_per_tenant_max = 64;
  std::size_t background_max = 16;         // live ones of a session
  std::size_t commands_kept = 100;         // of a session; the oldest that ended goes
  std::uint64_t log_bytes_max = 8u << 20;  // of a command; the rest is read and dropped
  // Of a workspace. Watched, since a folder has no limit of its own: a session that is found above it loses its
  // sandbox, and runs no program and takes no file until it has removed some.
  std::uint64_t storage_max = 5ull << 30;
  milliseconds close_grace{10'000};
  milliseconds check_deadline{5'000};
  milliseconds wait_max{60'000};
  // Of each program, where it does not say otherwise.
  std::map<std::string, std::string> env = {
      {"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/workspace"}, {"LANG", "C.UTF-8"}};
  RemoveLeftover remove_leftover;  // for a dead owner's sandboxes, and where close() failed
  StepWatch watch;
  std::shared_ptr<Trace> trace;  // null: none
  // A sandbox is to be this session's: called before anything of the session is in it, under no lock.
  std::function<void(const std::string& sandbox, const std::string& session)> on_claim;
};

enum class Way : std::uint8_t { cold, pool, reused };

// How long it took from a call until it had its sandbox.
struct Latencies {
  static constexpr std::array<std::int64_t, 10> kBoundsUs = {
      100, 1'000, 5'000, 10'000, 50'000, 100'000, 300'000, 600'000, 2'000'000, 10'000'000};
  std::array<std::uint64_t, kBoundsUs.size() + 1> counts{};  // each up to its bound; the last: above
  std::uint64_t count = 0;
  std::int64_t sum_us = 0;
};

// What the last start of a sandbox has shown. `allowed`: it confines what runs there (check_confinement() of
// runner/init_side/init_stream.h), and answers; `violation`: it does not; `unknown`: none could be started, or none
// was.
enum class Probe : std::uint8_t { allowed, violation, unknown };
struct ProbeState {
  Probe probe = Probe::unknown;
  std::int64_t since_ms = 0;  // 1970; of the first start that has shown it, or of this manager
};

struct Stats {
  ProbeState probe;
  std::size_t pooled = 0;
  std::size_t starting = 0;
  std::map<SessionState, std::size_t> sessions;
  std::map<Way, Latencies> starts;
  std::map<std::string, std::uint64_t> commands;  // by outcome; see sessions/session_task.h
  Report last_sweep;
};

struct SessionInfo {
  SessionRow row;  // `live` filled in
  SessionState state = SessionState::idle;
  std::string fault;               // of ERROR, and of the sandbox before the present one: a sentence
  std::uint64_t stored_bytes = 0;  // in its workspace, when it was last looked at; 0: not yet
};

// What the present sandbox of a session uses.
struct SandboxUsage {
  std::string sandbox;             // its id
  std::int64_t started_ms = 0;     // since 1970
  std::uint64_t cpu_ms = 0;        // since then, of all that ran there
  std::uint64_t memory_bytes = 0;  // of processes
  std::uint64_t tmp_bytes = 0;     // of files in /tmp, which are in memory
  std::uint64_t workspace_bytes = 0;
};

struct Log {
  std::string bytes;       // raw, as the command wrote them: whoever shows them masks them
  std::uint64_t next = 0;  // where to read on
  bool ended = false;      // nothing comes any more
};

class Manager {
 public:
  // Takes the state folder over (INPUT_INVALID where another guard holds it) and completes what its last owner left
  // undone; what could not be is in notes(), and tried again. The pool begins to fill. `clock` outlives the manager.
  static Result<std::unique_ptr<Manager>> open(
      const std::filesystem::path& state, SandboxFactory factory, const Clock& clock, Options options);
  ~Manager();  // stop() without grace
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // Opens a session, or reopens it, or leaves it open.
  Result<void> open(const std::string& session);

  // The session is RUNNING until the task has ended or is given up.
  Result<std::unique_ptr<Task>> start(const std::string& session, const TaskSpec& spec);
  Result<TaskOutput> exec(
      const std::string& session, const TaskSpec& spec, std::size_t output_bytes_max, Deadline deadline);

  // What `command` does from now on, in a task that is there already, as a step of its own. Null: nobody traces.
  std::unique_ptr<Trace::Step> begin_step(
      const std::string& session, std::string command, const std::map<std::string, std::string>& env);
  std::string trace_place() const;  // empty: none

  // In the background: its output, both streams as they come, goes to a log. Answers the command's id.
  Result<std::string> start_background(const std::string& session, const TaskSpec& spec);
  Result<std::vector<CommandRow>> commands(const std::string& session) const;  // the oldest first
  Result<Log> read_log(
      const std::string& session, const std::string& command, std::uint64_t offset, std::size_t bytes_max) const;
  Result<void> signal(const std::string& session, const std::string& command, int signal_number);

  // Paths are absolute, or relative to /workspace; upload() answers the absolute one.
  Result<std::string> upload(
      const std::string& session, const std::string& path, std::string_view bytes, Deadline deadline);
  // `take` gets the file in pieces, as they come; not called where there is none. What it answers ends it.
  Result<void> download(const std::string& session, const std::string& path,
      const std::function<Result<void>(std::string_view)>& take, Deadline deadline);
  Result<std::vector<Entry>> list(
      const std::string& session, const std::string& path, std::size_t depth, Deadline deadline);
  Result<Entry> stat(const std::string& session, const std::string& path, Deadline deadline);
  Result<void> move(const std::string& session, const std::string& from, const std::string& to, Deadline deadline);
  Result<void> remove(const std::string& session, const std::string& path, Deadline deadline);
  Result<void> make_folder(const std::string& session, const std::string& path, Deadline deadline);

  // TERM to its commands, KILL after the grace, then its sandbox goes, and all of the session with Workspace::remove.
  // Fails where something is left, which tick() then removes.
  Result<void> close(const std::string& session, Workspace workspace);

  // The session does not expire for being idle before `span` from now, and ends then, once no command is live. A lease
  // never holds for longer than the session's greatest age.
  Result<void> renew(const std::string& session, milliseconds span);

  // Nothing where the session has no sandbox just now: none is started for it. Walks through the files of the session,
  // and is no use of it.
  Result<std::optional<SandboxUsage>> usage(const std::string& session, Deadline deadline) const;

  std::vector<SessionInfo> sessions() const;
  Stats stats() const;
  std::vector<std::string> notes();  // what failed since the last call, beside calls: sentences

  // Does what is due: finds what died, checks healths and storage, sweeps, ends what expired, wakes up the refill. One
  // at a time.
  void tick();
  std::int64_t next_tick() const;       // when it is to be called again, at the latest (Clock)
  void run(const CancelToken& cancel);  // tick() by the real time and whenever a sandbox dies, until cancelled

  bool stopping() const;
  // No operation begins any more; all sandboxes are closed, side by side. Workspaces stay.
  void stop(milliseconds grace);

 private:
  struct State;
  explicit Manager(std::unique_ptr<State> state);
  Result<void> begin_background(const CommandRow& row, const TaskSpec& spec);
  Result<std::string> operate(const std::string& session, TaskOperation kind, std::vector<std::string> paths,
      const std::string& how, Deadline deadline);
  std::unique_ptr<State> state_;
};

}  // namespace guard::sessions

template <>
inline constexpr std::array<std::string_view, 3> guard::kNamesOf<guard::sessions::Probe> = {
    "allowed", "violation", "unknown"};
