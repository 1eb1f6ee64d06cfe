// `guard session`: a sandbox that stays, for people and scripts. Each verb is one request of serve/api.h.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/commands/trusted_inputs.h"
#include "cli/sessions/acads_session.h"
#include "cli/sessions/port_forward.h"
#include "cli/sessions/session_service.h"
#include "cli/sessions/work_on_terminal.h"
#include "common/file_io.h"
#include "common/text/base64.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "pipeline/config/config.h"
#include "pipeline/run/run_output.h"
#include "redact/redactor.h"
#include "runner/acads/session_pool.h"
#include "runner/tasks/watch_events.h"
#include "serve/access.h"

namespace guard {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr milliseconds kLookAround{100};
constexpr std::size_t kLineBytesMax = 1u << 20;  // of an answer: 64 KiB of output in base64, and some words

Result<std::string> ask_for(const Options& options, CommandContext& context, const serve::Request& request) {
  WholeAnswer answer;
  GUARD_TRY(ask_session(options, context, request, answer));
  GUARD_TRY(answer.error());
  return std::move(answer.body);
}

// A command's output as it comes: secrets are masked on the way to whoever reads it.
class OutputAnswer final : public serve::Answer {
 public:
  OutputAnswer(ByteSink& out, ByteSink& err) : out_(out), err_(err) {}

  // An error is a line as any other.
  Result<void> begin(unsigned, std::string_view) override { return ok(); }

  Result<void> write(std::string_view bytes) override {
    pending_ += bytes;
    std::size_t at = 0;
    for (std::size_t end = 0; (end = pending_.find('\n', at)) != std::string::npos; at = end + 1)
      GUARD_TRY(take(std::string_view(pending_).substr(at, end - at)));
    pending_.erase(0, at);
    if (pending_.size() <= kLineBytesMax) return ok();
    return Error(ErrorCode::protocol_error, "guard serve answered with a line without an end");
  }

  // What became of the command.
  Result<json> end() const {
    if (failure_) return *failure_;
    if (!end_) return Error(ErrorCode::protocol_error, "guard serve ended the answer before the command had ended");
    return *end_;
  }

 private:
  Result<void> take(std::string_view line) {
    GUARD_TRY_ASSIGN(json said, parse_json(line).context("reading the answer"));
    if (!said.is_object()) return Error(ErrorCode::protocol_error, "guard serve answered with something unknown");
    if (const auto error = said.find("error"); error != said.end() && error->is_object()) {
      failure_ = foreign_error(*error);
    } else if (const auto ended = said.find("end"); ended != said.end() && ended->is_object()) {
      end_ = *ended;
    } else if (said.contains("stream") && said.contains("bytes") && said["bytes"].is_string()) {
      const auto bytes = base64_decode(said["bytes"].get<std::string>());
      if (!bytes) return Error(ErrorCode::protocol_error, "guard serve answered with bytes that are not base64");
      ByteSink& sink = said["stream"] == "err" ? err_ : out_;
      return sink.push(std::span(bytes->data(), bytes->size()));
    }
    return ok();
  }

  ByteSink& out_;
  ByteSink& err_;
  std::string pending_;
  std::optional<json> end_;
  std::optional<Error> failure_;
};

serve::Request request_for(std::string method, const std::string& session, std::string_view what) {
  serve::Request request;
  request.method = std::move(method);
  request.path = fmt::format("/v1/sessions/{}{}{}", session, what.empty() ? "" : "/", what);
  return request;
}

Result<std::string> read_input(const std::string& named, std::size_t bytes_max = serve::kBodyBytesMax / 2) {
  UniqueFd owned;
  if (named != "-") {
    owned.reset(::open(named.c_str(), O_RDONLY | O_CLOEXEC));
    if (!owned) return Error::from_errno(ErrorCode::input_invalid, printable(named), errno);
  }
  std::string bytes;
  std::array<char, 64ul * 1024> chunk;
  for (;;) {
    const ssize_t size = ::read(named == "-" ? STDIN_FILENO : owned.get(), chunk.data(), chunk.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Error::from_errno(ErrorCode::io_error, printable(named), errno);
    if (size == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(size));
    if (bytes.size() > bytes_max)
      return Error(ErrorCode::file_too_large,
          fmt::format("{} holds more than {} MB, which is the limit", printable(named), bytes_max >> 20));
  }
}

Result<int> exec(const Options& options, CommandContext& context) {
  const std::string& session = options.arguments.front();
  GUARD_TRY_ASSIGN(const auto project, project_folder(options.project));
  GUARD_TRY_ASSIGN(const ConfigSources sources, sources_of(options, project, context));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(sources));
  GUARD_TRY_ASSIGN(const auto variables, run_variables(loaded.config, context.environment));
  if (options.tty) {
    return work_on_terminal(
        [&]() -> Result<TerminalTask> {
          TerminalTask task;
          GUARD_TRY_ASSIGN(task.start, session_tasks(options, context, session));
          task.spec.argv.assign(options.arguments.begin() + 1, options.arguments.end());
          task.spec.env = variables;
          if (!options.cwd.empty()) task.spec.working_dir = options.cwd;
          task.spec.timeout = options.time_limit;
          return task;
        },
        context);
  }
  GUARD_TRY_ASSIGN(const SecretSource secrets, secrets_of(context.environment, loaded.config, variables));

  const auto is_text = [](const std::string& value) { return is_utf8(value); };
  if (!std::all_of(options.arguments.begin(), options.arguments.end(), is_text) || !is_utf8(options.cwd) ||
      !std::all_of(variables.begin(), variables.end(), [](const auto& one) { return is_utf8(one.second); })) {
    return Error(ErrorCode::input_invalid, "an argument, a variable or --cwd is not UTF-8, and can't be sent as it is")
        .hint("hand such bytes in with --stdin or by a file");
  }
  ordered_json body = {{"argv", std::vector(options.arguments.begin() + 1, options.arguments.end())}};
  if (!variables.empty()) body["env"] = variables;
  if (!options.cwd.empty()) body["cwd"] = options.cwd;
  if (options.time_limit.count() > 0) body["timeout_ms"] = options.time_limit.count();
  serve::Request request = request_for("POST", session, options.background ? "commands" : "exec");
  if (!options.input.empty()) {
    GUARD_TRY_ASSIGN(const std::string input, read_input(options.input));
    body["input"] = base64_encode(input);
  }
  request.query["open"] = "1";
  request.body = body.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  if (options.background) {
    GUARD_TRY_ASSIGN(const std::string answer, ask_for(options, context, request));
    context.streams.out.write(answer);
    return 0;
  }
  GUARD_TRY_ASSIGN(Redactor out, Redactor::create(secrets, context.streams.out));
  GUARD_TRY_ASSIGN(Redactor err, Redactor::create(secrets, context.streams.err));
  OutputAnswer answer(out, err);
  const auto asked = ask_session(options, context, request, answer);
  const auto end = answer.end();
  // A stream that was cut may end in the first half of a secret.
  GUARD_TRY(asked && end ? out.finish() : out.finish_cut());
  GUARD_TRY(asked && end ? err.finish() : err.finish_cut());
  GUARD_TRY(asked);
  if (!end) return end.error();
  return status_of(end->value("kind", ""), end->value("value", 0), context);
}

Result<int> print_document(const Options& options, CommandContext& context, const serve::Request& request) {
  GUARD_TRY_ASSIGN(const std::string answer, ask_for(options, context, request));
  if (options.format == OutputFormat::json) {
    context.streams.out.write(answer);
    return 0;
  }
  GUARD_TRY_ASSIGN(const json said, parse_json(answer).context("reading the answer"));
  for (const auto& row : said.value("sessions", json::array())) {
    context.streams.out.print("{:<40} {:<10} {}\n", row.value("session", ""), row.value("state", ""),
        row.value("live", 0) == 0 ? "" : fmt::format("{} running", row.value("live", 0)));
  }
  for (const auto& row : said.value("entries", json::array())) {
    context.streams.out.print("{} {:>4} {:>12} {}{}\n", row.value("type", ""), row.value("mode", ""),
        row.value("size", std::uint64_t{0}), row.value("path", ""),
        row.contains("link") ? " -> " + row.value("link", "") : "");
  }
  for (const auto& row : said.value("commands", json::array())) {
    context.streams.out.print("{} {:<14} {}\n", row.value("command", ""),
        row.value("ended_ms", 0ll) == 0 ? "running" : row.value("outcome", ""), row.value("argv", ""));
  }
  return 0;
}

Result<int> log(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const auto project, project_folder(options.project));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(config_of(options.config, project, context)));
  GUARD_TRY_ASSIGN(const SecretSource secrets, secrets_of(context.environment, loaded.config));
  GUARD_TRY_ASSIGN(Redactor out, Redactor::create(secrets, context.streams.out));
  std::uint64_t offset = 0;
  for (;;) {
    serve::Request request =
        request_for("GET", options.arguments[0], fmt::format("commands/{}/log", options.arguments[1]));
    request.query["offset"] = std::to_string(offset);
    GUARD_TRY_ASSIGN(const std::string answer, ask_for(options, context, request));
    GUARD_TRY_ASSIGN(const json said, parse_json(answer).context("reading the answer"));
    const auto bytes = base64_decode(said.value("bytes", ""));
    if (!bytes) return Error(ErrorCode::protocol_error, "guard serve answered with bytes that are not base64");
    if (bytes->empty()) break;
    GUARD_TRY(out.push(std::span(bytes->data(), bytes->size())));
    offset = said.value("next", offset + bytes->size());
  }
  GUARD_TRY(out.finish());
  return 0;
}

Result<int> upload(const Options& options, CommandContext& context) {
  const std::size_t bytes_max = options.acads ? acads::kFileBytesMax : serve::kBodyBytesMax / 2;
  GUARD_TRY_ASSIGN(std::string bytes, read_input(options.arguments[1], bytes_max));
  serve::Request request = request_for("PUT", options.arguments[0], "files");
  request.query["path"] = options.arguments[2];
  request.query["open"] = "1";
  request.body = std::move(bytes);
  GUARD_TRY_ASSIGN(const std::string answer, ask_for(options, context, request));
  if (options.format == OutputFormat::json) context.streams.out.write(answer);
  return 0;
}

// The bytes as they are: a file is not output that somebody reads along with.
Result<int> download(const Options& options, CommandContext& context) {
  serve::Request request = request_for("GET", options.arguments[0], "files");
  request.query["path"] = options.arguments[1];
  GUARD_TRY_ASSIGN(const std::string bytes, ask_for(options, context, request));
  if (options.arguments.size() > 2) {
    GUARD_TRY(write_file_atomically(options.arguments[2], bytes, 0644));
  } else {
    context.streams.out.write(bytes);
  }
  return 0;
}

// What changes in a folder, a line each, until the folder goes or Ctrl-C.
Result<int> watch(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const StartTask start, served_tasks(options, context, options.arguments.front()));
  TaskSpec spec;
  spec.kind = TaskOperation::watch;
  spec.argv = {options.arguments.size() > 1 ? options.arguments[1] : ".", options.recursive ? "2" : "1"};
  GUARD_TRY_ASSIGN(const auto task, start(spec));
  WatchReader reader;
  while (!context.cancel.cancelled()) {
    const auto piece = task->read(Deadline::after(kLookAround));
    if (!piece && piece.error().code() == ErrorCode::execution_timeout) continue;
    if (!piece || !*piece) break;
    GUARD_TRY_ASSIGN(const auto events, reader.push((*piece)->bytes));
    for (const WatchEvent& event : events) {
      if (options.format == OutputFormat::json) {
        context.streams.out.write(
            ordered_json({{"event", to_string(event.kind)}, {"path", printable(event.path)}}).dump() + "\n");
      } else {
        context.streams.out.print("{:<6} {}\n", to_string(event.kind), printable(event.path));
      }
    }
    GUARD_TRY(context.streams.out.flush());
  }
  if (!context.cancel.cancelled()) GUARD_TRY(task->end());
  return 0;
}

Result<int> port(const Options& options, CommandContext& context) {
  const std::string& named = options.arguments[1];
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(named.data(), named.data() + named.size(), port);
  if (error != std::errc() || end != named.data() + named.size() || port == 0)
    return Error(ErrorCode::usage, fmt::format("{} is no port", printable(named))).hint("a number from 1 to 65535");
  // No default: what listens for everybody is asked for.
  if (options.socket.empty() == options.listen.empty())
    return Error(ErrorCode::usage, "who may connect to the port?")
        .hint(fmt::format(
            "--unix PATH: you alone; or --listen 127.0.0.1:{}: every user and program of this machine", port));
  PortListener listener;
  if (options.socket.empty()) {
    GUARD_TRY_ASSIGN(auto loopback, serve::listen_on_loopback(options.listen));
    listener = {std::move(loopback.socket), std::move(loopback.address)};
  } else {
    GUARD_TRY_ASSIGN(listener, listen_on_socket(options.socket));
  }
  std::atomic<bool> gone = false;
  const auto stop = [&] {
    gone = true;
    context.cancel.cancel();
  };
  GUARD_TRY_ASSIGN(const StartTask start, served_tasks(options, context, options.arguments.front(), stop));
  if (!options.quiet)
    context.streams.err.print(
        "guard: {} is port {} of {}; Ctrl-C ends\n", printable(listener.place), port, options.arguments.front());
  forward_port(listener, start, port, context.streams.err, context.cancel);
  if (gone)
    return Error(ErrorCode::environment_unavailable, "`guard serve` has ended, and what ran in the session with it")
        .hint("start `guard serve` and the server inside again, then this");
  return 0;
}

Error too_few(std::string_view what) {
  return Error(ErrorCode::usage, fmt::format("guard session needs {}", what)).hint("see `guard session --help`");
}

}  // namespace

Result<int> cmd_session(const Options& options, CommandContext& context) {
  const auto& given = options.arguments;
  const std::string session = given.empty() ? std::string() : given.front();
  if (options.action != Action::list && options.action != Action::stats) GUARD_TRY(sessions::check_session_id(session));
  // These speak to a sandbox at hand, and not by requests.
  const bool streams = options.tty || options.action == Action::watch || options.action == Action::port;
  if (options.acads && streams) return not_at_azure("terminal, port or folder to watch");
  switch (options.action) {
    case Action::open: return print_document(options, context, request_for("POST", session, ""));
    case Action::exec: return given.size() < 2 ? Result<int>(too_few("a command")) : exec(options, context);
    case Action::upload:
      return given.size() < 3 ? Result<int>(too_few("a file and its path inside")) : upload(options, context);
    case Action::download: return given.size() < 2 ? Result<int>(too_few("a path inside")) : download(options, context);
    case Action::log: return given.size() < 2 ? Result<int>(too_few("a command's id")) : log(options, context);
    case Action::commands: return print_document(options, context, request_for("GET", session, "commands"));
    case Action::watch: return watch(options, context);
    case Action::port: return given.size() < 2 ? Result<int>(too_few("a port")) : port(options, context);
    case Action::ls: {
      serve::Request request = request_for("GET", session, "list");
      if (given.size() > 1) request.query["path"] = given[1];
      return print_document(options, context, request);
    }
    case Action::close: {
      serve::Request request = request_for("DELETE", session, "");
      request.query["workspace"] = options.remove ? "remove" : "keep";
      return print_document(options, context, request);
    }
    case Action::stats: {
      serve::Request request;
      request.method = "GET";
      request.path = "/v1/stats";
      GUARD_TRY_ASSIGN(const std::string answer, ask_for(options, context, request));
      context.streams.out.write(answer);
      return 0;
    }
    default: {
      serve::Request request;
      request.method = "GET";
      request.path = "/v1/sessions";
      return print_document(options, context, request);
    }
  }
}

}  // namespace guard
