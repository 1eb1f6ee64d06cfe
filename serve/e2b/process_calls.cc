#include "serve/e2b/process_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "common/text/base64.h"
#include "common/text/text.h"
#include "serve/e2b/files.h"
#include "serve/e2b/rpc.h"
#include "sessions/session_task.h"

namespace guard::serve::e2b {
namespace {

constexpr milliseconds kLook{250};           // at whether the client still listens
constexpr milliseconds kAliveEvery{30'000};  // clients give a silent stream five minutes
constexpr milliseconds kInputMax{30'000};
constexpr milliseconds kBegunMax{10'000};
constexpr milliseconds kGrace{2'000};

Result<TerminalSize> size_of(const json& pty) {
  const json size = pty.is_object() ? pty.value("size", json::object()) : json::object();
  if (!size.is_object()) return Error(ErrorCode::input_invalid, "pty.size is no object");
  const auto side = [&size](const char* key, std::uint16_t otherwise) {
    const auto found = size.find(key);
    if (found == size.end() || !found->is_number_unsigned()) return otherwise;
    return static_cast<std::uint16_t>(std::clamp<std::uint64_t>(*found, 1, 0xffff));
  };
  return TerminalSize{side("rows", 24), side("cols", 80)};
}

struct Start {
  ProcessConfig config;
  TaskSpec spec;
};
Result<Start> start_of(const Sandbox& sandbox, const Request& request) {
  GUARD_TRY_ASSIGN(const json body, message_of(request.body));
  const json process = body.value("process", json());
  if (!process.is_object()) return Error(ErrorCode::input_invalid, "process is missing");
  Start start;
  start.config.cmd = text(process, "cmd");
  if (start.config.cmd.empty()) return Error(ErrorCode::input_invalid, "process.cmd is missing");
  const json args = process.value("args", json());
  if (!args.is_null() && !args.is_array()) return Error(ErrorCode::input_invalid, "process.args must be a list");
  for (const json& word : args) {
    if (!word.is_string()) return Error(ErrorCode::input_invalid, "process.args holds something that is no text");
    start.config.args.push_back(word);
  }
  GUARD_TRY_ASSIGN(start.config.envs, variables(process, "envs"));
  start.spec.env = start.config.envs;
  start.spec.env.insert(sandbox.made.env.begin(), sandbox.made.env.end());
  start.config.cwd = text(process, "cwd");
  start.config.tag = text(body, "tag");
  start.spec.argv = {start.config.cmd};
  start.spec.argv.insert(start.spec.argv.end(), start.config.args.begin(), start.config.args.end());
  start_in(sandbox, absolute(sandbox, start.config.cwd), start.spec);
  if (body.contains("pty") && !body["pty"].is_null()) {
    GUARD_TRY_ASSIGN(start.spec.terminal, size_of(body["pty"]));
    start.config.terminal = true;
  }
  GUARD_TRY_ASSIGN(const bool wants_input, flag(body, "stdin", true));
  start.spec.input = start.config.terminal || wants_input;
  start.spec.grace = kGrace;
  const std::string limit =
      request.fields.contains("connect-timeout-ms") ? request.fields.at("connect-timeout-ms") : "";
  std::int64_t limit_ms = 0;
  if (read_number(limit, limit_ms)) start.spec.timeout = milliseconds(limit_ms);
  return start;
}

// The clients ask for bash, whatever they run. An image without it has another shell, or bun's own.
void choose_shell(const Sandbox& sandbox, TaskSpec& spec) {
  if (spec.argv[0] != "/bin/bash" || sandbox.shell == "/bin/bash") return;
  const bool is_line = spec.argv.size() == 4 && spec.argv[2] == "-c";
  const std::string line = is_line ? spec.argv[3] : std::string();
  if (sandbox.shell == "/bin/sh") {
    spec.argv = is_line ? std::vector<std::string>{"/bin/sh", "-c", line} : std::vector<std::string>{"/bin/sh", "-i"};
  } else {
    spec.argv = is_line ? std::vector<std::string>{"bun", "exec", line} : std::vector<std::string>{"bun", "repl"};
  }
}

ordered_json end_event(const TaskEnd& end) {
  const auto value = end.outcome.value;
  std::string status;
  ordered_json event;
  if (end.outcome.kind == OutcomeKind::exited) {
    status = fmt::format("exit status {}", value);
    event = {{"exitCode", value}, {"exited", true}, {"status", status}};
    if (value != 0) event["error"] = status;
    return event;
  }
  if (end.outcome.kind == OutcomeKind::signaled) {
    const char* name = ::sigabbrev_np(static_cast<int>(value));
    status = fmt::format("signal: {}",
        value == SIGKILL       ? "killed"
            : value == SIGTERM ? "terminated"
            : name == nullptr  ? "?"
                               : name);
  } else {
    status = std::string(to_string(end.outcome.kind));
  }
  return {{"exitCode", -1}, {"exited", false}, {"status", status}, {"error", status}};
}

// From here to its end, or until the client goes, which leaves it running. An Error: the connection ends with the
// sandbox, by which the clients know that.
Result<void> follow(
    const Sandbox& sandbox, Process& process, Process::Listener& listener, Answer& answer, MessageStream& out) {
  GUARD_TRY(out.send({{"event", {{"start", {{"pid", process.pid}}}}}}));
  auto said = SteadyClock::now();
  for (;;) {
    if (!answer.listening()) return ok();
    const auto piece = listener.next(Deadline::after(kLook));
    if (!piece) {
      if (SteadyClock::now() - said < kAliveEvery) continue;
      GUARD_TRY(out.send({{"event", {{"keepalive", ordered_json::object()}}}}));
      said = SteadyClock::now();
      continue;
    }
    if (!*piece) break;
    const bool is_err = (*piece)->stream == Task::Piece::Stream::err;
    const char* stream = process.config.terminal ? "pty" : is_err ? "stderr" : "stdout";
    GUARD_TRY(out.send({{"event", {{"data", {{stream, base64_encode((*piece)->bytes)}}}}}}));
    said = SteadyClock::now();
  }
  if (sandbox.over) return Error(ErrorCode::environment_unavailable, "the sandbox was ended");
  GUARD_TRY_ASSIGN(const TaskEnd end, process.end());
  if (end.outcome.kind == OutcomeKind::timed_out)
    return rpc_error("deadline_exceeded", "the program's time was over, and it was ended");
  answer.note(sessions::outcome_text(end));
  GUARD_TRY(out.send({{"event", {{"end", end_event(end)}}}}));
  out.finish();
  return ok();
}

Result<void> start(Sandboxes& sandboxes, Sandbox& sandbox, const Request& request, Answer& answer, MessageStream& out) {
  GUARD_TRY_ASSIGN(Start wanted, start_of(sandbox, request));
  choose_shell(sandbox, wanted.spec);
  GUARD_TRY_ASSIGN(auto task, sandboxes.start(sandbox, wanted.spec));
  const std::uint32_t pid = task->pid(Deadline::after(kBegunMax));
  if (pid == 0) {
    GUARD_TRY(collect(*task, 0, Deadline::after(kBegunMax)));
    return Error(ErrorCode::execution_failed, "the program did not get a process of its own");
  }
  const auto process = sandbox.processes.add(pid, wanted.config, std::move(task));
  Process::Listener listener(*process);
  if (auto running = process->run(); !running) {
    sandbox.processes.remove(*process);
    return running;
  }
  return follow(sandbox, *process, listener, answer, out);
}

Result<std::shared_ptr<Process>> selected(Sandbox& sandbox, const json& body) {
  const json selector = body.value("process", json::object());
  std::optional<std::uint32_t> pid;
  if (selector.is_object() && selector.contains("pid") && selector["pid"].is_number_unsigned()) {
    const auto given = selector["pid"].get<std::uint64_t>();
    pid = static_cast<std::uint32_t>(std::min<std::uint64_t>(given, ~std::uint32_t{0}));
  }
  auto process = sandbox.processes.find(pid, selector.is_object() ? text(selector, "tag") : std::string());
  if (process) return process;
  return rpc_error("not_found", pid ? fmt::format("process with pid {} not found", *pid) : "process not found");
}

Result<ordered_json> unary(Sandbox& sandbox, std::string_view method, const Request& request) {
  GUARD_TRY_ASSIGN(const json body, object_of(request.body));
  if (method == "List") {
    ordered_json rows = ordered_json::array();
    for (const auto& one : sandbox.processes.live()) {
      ordered_json config = {{"cmd", one->config.cmd}, {"args", one->config.args}, {"envs", one->config.envs}};
      if (!one->config.cwd.empty()) config["cwd"] = one->config.cwd;
      ordered_json row = {{"config", std::move(config)}, {"pid", one->pid}};
      if (!one->config.tag.empty()) row["tag"] = one->config.tag;
      rows.push_back(std::move(row));
    }
    return ordered_json{{"processes", std::move(rows)}};
  }
  if (method != "SendInput" && method != "CloseStdin" && method != "SendSignal" && method != "Update")
    return rpc_error("unimplemented", fmt::format("guard does not offer process.Process/{}", printable(method)));
  GUARD_TRY_ASSIGN(const auto process, selected(sandbox, body));
  if (method == "SendInput") {
    const json input = body.value("input", json::object());
    const std::string encoded = input.is_object() ? text(input, process->config.terminal ? "pty" : "stdin") : "";
    const auto bytes = base64_decode(encoded);
    if (!bytes) return Error(ErrorCode::input_invalid, "input is not base64");
    GUARD_TRY(process->task().write_input({bytes->data(), bytes->size()}, Deadline::after(kInputMax)));
  } else if (method == "CloseStdin") {
    GUARD_TRY(process->task().close_input());
  } else if (method == "SendSignal") {
    const std::string name = text(body, "signal");
    if (name != "SIGNAL_SIGKILL" && name != "SIGNAL_SIGTERM")
      return Error(ErrorCode::input_invalid, "the signal is neither SIGNAL_SIGTERM nor SIGNAL_SIGKILL");
    GUARD_TRY(process->task().signal(name == "SIGNAL_SIGKILL" ? SIGKILL : SIGTERM));
  } else {
    GUARD_TRY_ASSIGN(const TerminalSize size, size_of(body.value("pty", json())));
    GUARD_TRY(process->task().resize(size));
  }
  return ordered_json::object();
}

}  // namespace

Result<void> call_process(
    Sandboxes& sandboxes, Sandbox& sandbox, std::string_view method, const Request& request, Answer& answer) {
  if (method == "Start" || method == "Connect") {
    MessageStream out(answer);
    const auto done = [&]() -> Result<void> {
      if (method == "Start") return start(sandboxes, sandbox, request, answer, out);
      GUARD_TRY_ASSIGN(const json body, message_of(request.body));
      GUARD_TRY_ASSIGN(const auto process, selected(sandbox, body));
      Process::Listener listener(*process);
      return follow(sandbox, *process, listener, answer, out);
    }();
    if (!done && !sandbox.over) out.fail(done.error());
    return sandbox.over ? done : ok();
  }
  const auto said = unary(sandbox, method, request);
  said ? say_message(answer, *said) : say_failure(answer, said.error());
  return ok();
}

}  // namespace guard::serve::e2b
