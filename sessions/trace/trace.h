// What was done in sandboxes, for programs that watch agents: each command of a session is a step from its start to its
// end, whichever door it came through, and each regular file of /workspace that was made or changed meanwhile came of
// it. A line of JSON each: SKILL_EXECUTION_STEP, then its ARTIFACT_GENERATED; and, where there is a catalogue, a row.
//
// Where the network is an allowlist, each connection that has ended is a line, too: NETWORK_CONNECTION. Of many between
// the ends of two steps the first that were allowed are told, and the first that were refused; the rest is counted in
// the step, with its bytes, or, after the last one, in a line of its own: NETWORK_CONNECTIONS_LEFT_OUT.
//
// What clients do to files between steps (uploads, say) is nobody's step; while a step runs it can't be told apart from
// what the command does. Of steps that run side by side the first one to end has the files. A file whose mode was
// changed counts as changed.
//
// All texts are masked, and withheld where they can't be: in a session that was given too many variables, and of a host
// whose session is not known any more. Thread-safe; a step is used by one thread at a time, and may outlive what began
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/log.h"
#include "redact/kinds/secret_source.h"
#include "runner/tasks/open_sandbox.h"
#include "sessions/trace/catalogue.h"
#include "sessions/trace/workspace_files.h"

namespace guard::sessions {

// A step, as it may leave this process.
struct StepSpan {
  std::string session;
  std::uint64_t step = 0;
  std::string command;  // masked
  std::string outcome;
  std::optional<std::int64_t> exit_code;
  std::int64_t begun_ns = 0;  // since 1970
  std::int64_t ended_ns = 0;
  std::uint64_t files = 0;  // that came of it
};

// A connection that a sandbox asked for, as egress/proxy.h decides it.
struct ConnectionLine {
  std::string host;  // foreign
  std::uint16_t port = 0;
  std::string address;
  bool allowed = false;
  std::string reason;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::int64_t began_ms = 0;  // since 1970
  milliseconds elapsed{0};
};

class Trace : public std::enable_shared_from_this<Trace> {
 public:
  struct Settings {
    SecretSource secrets;
    std::uint64_t output_bytes_max = 0;  // of a step's two streams together, as of any output; 0: no cap
    std::string file;                    // "-": standard error; empty: no lines
    std::string place;                   // where all goes, in words that no other process has for other places
    std::unique_ptr<Catalogue> catalogue;
    std::function<void(StepSpan span)> take_span;  // once a step has ended; must not wait
    // The same secrets with the values of these variables. Null: those of commands are not masked.
    std::function<Result<SecretSource>(const std::map<std::string, std::string>& env)> secrets_with = {};
  };
  // IO_ERROR.
  static Result<std::shared_ptr<Trace>> open(Settings settings);

  ~Trace();  // every session has ended
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  const std::string& place() const { return settings_.place; }

  struct End {
    std::string outcome;  // "exited 0"
    std::optional<std::int64_t> exit_code;
    milliseconds elapsed{0};
  };
  static End end_of(const TaskEnd& end);

  class Step {
   public:
    Step(std::shared_ptr<Trace> trace, std::string session, std::string command, UniqueFd workspace,
        const std::map<std::string, std::string>& env);
    ~Step();  // without finish(): it was none
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

    void push(Task::Piece::Stream stream, std::string_view bytes);
    void finish(const End& end);  // once

   private:
    struct State;
    std::unique_ptr<State> state_;
  };
  // `workspace`: the folder; no descriptor: nothing is said of files. `env`: what the command was given, whose values
  // are masked in this and all later steps of the session.
  std::unique_ptr<Step> begin(const std::string& session, std::string command, UniqueFd workspace,
      const std::map<std::string, std::string>& env = {});

  void tell(const std::string& session, const ConnectionLine& connection);

  // Its sandbox has gone; it may go on with another.
  void end(const std::string& session);

 private:
  struct Connections {  // since the end of the last step
    std::uint64_t allowed = 0;
    std::uint64_t refused = 0;
    std::uint64_t bytes_up_left_out = 0;
    std::uint64_t bytes_down_left_out = 0;
  };
  struct Session {
    std::mutex mutex;
    std::uint64_t steps = 0;
    Connections connections;
    std::size_t live = 0;
    std::optional<WorkspaceFiles> files;  // that are known, while a step is live
    std::map<std::string, std::string> env;
    std::shared_ptr<const SecretSource> secrets;  // with these; null: nothing can be masked
    bool cannot_be_masked = false;                // from now on
    bool ended = false;
  };
  enum class For : std::uint8_t { step, connection };
  Trace(Settings settings, std::optional<JsonLog> log) : settings_(std::move(settings)), log_(std::move(log)) {}
  std::shared_ptr<Session> session(const std::string& id, For use);
  void write_left_out(const std::string& id, Session& session) const;
  std::shared_ptr<const SecretSource> secrets_of(Session& session, const std::map<std::string, std::string>& env) const;

  const Settings settings_;
  const std::optional<JsonLog> log_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Session>> sessions_;
  bool has_forgotten_ = false;  // what some session was given
};

// As a person would type it; of a shell that is given a line, that line.
std::string command_text(const std::vector<std::string>& argv);

}  // namespace guard::sessions
