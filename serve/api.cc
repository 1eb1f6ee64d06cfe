#include "serve/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "common/text/base64.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "serve/metrics.h"
#include "serve/task_stream.h"
#include "sessions/session_task.h"

namespace guard::serve {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kLines = "application/x-ndjson";
constexpr std::string_view kBytes = "application/octet-stream";
constexpr std::string_view kBelowSessions = "/v1/sessions/";
constexpr milliseconds kFileLimit{600'000};
constexpr std::size_t kLogBytesMax = 1u << 20;                    // of one answer
constexpr std::size_t kPieceBytes = 64ul * 1024;                  // of a long answer
constexpr JsonLimits kOfATask{task_protocol::kWordsMax + 16, 3};  // itself, argv and env
constexpr milliseconds kLookAtListener{250};

unsigned status_of(const Error& error) {
  unsigned status = 0;
  const auto named = error.details().find("status");
  if (named != error.details().end() && read_number(named->second, status)) return status;
  if (error.details().contains("limit")) return 429;
  if (error.details().contains("access")) return 403;
  switch (error.code()) {
    case ErrorCode::input_invalid:
    case ErrorCode::usage: return 400;
    case ErrorCode::file_not_found: return 404;
    case ErrorCode::file_too_large: return 413;
    case ErrorCode::environment_unavailable:
    case ErrorCode::execution_timeout: return 503;
    default: return 500;
  }
}

ordered_json error_json(const Error& error) {
  ordered_json said = {{"code", error.wire_name()}, {"message", printable(error.message())}};
  if (!error.hint().empty()) said["hint"] = printable(error.hint());
  return {{"error", std::move(said)}};
}

std::string text_of(const ordered_json& document) {
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<void> say(Answer& answer, const ordered_json& document) {
  GUARD_TRY(answer.begin(200, kJson));
  return answer.write(text_of(document));
}

std::string text(const Request& request, const char* key, const std::string& otherwise = {}) {
  const auto found = request.query.find(key);
  return found == request.query.end() ? otherwise : found->second;
}

Result<std::uint64_t> number(const Request& request, const char* key, std::uint64_t otherwise) {
  const auto found = request.query.find(key);
  if (found == request.query.end()) return otherwise;
  std::uint64_t value = 0;
  const std::string& given = found->second;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error == std::errc() && end == given.data() + given.size()) return value;
  return Error(ErrorCode::input_invalid, fmt::format("{} is no number: {}", key, printable(given)));
}

Error no_such(const Request& request) {
  return Error(
      ErrorCode::file_not_found, fmt::format("there is no {} {}", printable(request.method), printable(request.path)));
}

// "/v1/sessions/T/C/what/else" -> "T/C" and "what/else".
std::pair<std::string, std::string_view> place_in_session(std::string_view path) {
  const std::string_view rest = path.substr(kBelowSessions.size());
  const std::size_t first = rest.find('/');
  const std::size_t second = first == std::string_view::npos ? first : rest.find('/', first + 1);
  return {std::string(rest.substr(0, second)),
      second == std::string_view::npos ? std::string_view() : rest.substr(second + 1)};
}

ordered_json end_json(const TaskEnd& end) {
  return {{"kind", to_string(end.outcome.kind)}, {"value", end.outcome.value}, {"elapsed_ms", end.elapsed.count()},
      {"cpu_ms", end.cpu.count()}, {"max_rss_bytes", end.max_rss_bytes}};
}

ordered_json session_json(const sessions::SessionInfo& session) {
  ordered_json row = {{"session", session.row.id}, {"state", to_string(session.state)},
      {"created_ms", session.row.created_ms}, {"used_ms", session.row.used_ms}, {"live", session.row.live}};
  if (session.row.lease_ms > 0) row["lease_ms"] = session.row.lease_ms;
  if (session.row.expires_ms > 0) row["expires_ms"] = session.row.expires_ms;
  if (session.stored_bytes > 0) row["stored_bytes"] = session.stored_bytes;
  if (!session.fault.empty()) row["fault"] = printable(session.fault);
  return row;
}

// Knows whether the answer has begun, and as what.
class Guarded final : public Answer {
 public:
  explicit Guarded(Answer& next) : next_(next) {}
  Result<void> begin(unsigned status, std::string_view content_type) override {
    content_type_ = content_type;
    return next_.begin(status, content_type);
  }
  Result<void> write(std::string_view bytes) override { return next_.write(bytes); }
  bool listening() override { return next_.listening(); }
  void note(std::string_view outcome) override { next_.note(outcome); }
  Result<int> upgrade(std::string_view protocol) override {
    auto connection = next_.upgrade(protocol);
    if (connection) content_type_ = protocol;
    return connection;
  }
  bool begun() const noexcept { return !content_type_.empty(); }
  const std::string& content_type() const noexcept { return content_type_; }

 private:
  Answer& next_;
  std::string content_type_;
};

}  // namespace

Result<TaskSpec> task_of(const std::string& body, std::string& input) {
  const auto invalid = [](std::string_view what) { return Error(ErrorCode::input_invalid, std::string(what)); };
  GUARD_TRY_ASSIGN(const auto given, parse_json(body, RepeatedKeys::refused, kOfATask).context("reading the request"));
  TaskSpec task;
  if (!given.is_object()) return invalid("the body is no JSON object");
  for (const auto& [key, value] : given.items()) {
    if (key == "argv" && value.is_array()) {
      for (const auto& word : value) {
        if (!word.is_string()) return invalid("argv holds something that is no string");
        task.argv.push_back(word.template get<std::string>());
      }
    } else if (key == "env" && value.is_object()) {
      for (const auto& [name, content] : value.items()) {
        if (!content.is_string()) return invalid("env holds something that is no string");
        task.env[name] = content.template get<std::string>();
      }
    } else if (key == "cwd" && value.is_string()) {
      task.working_dir = value.template get<std::string>();
    } else if (key == "timeout_ms" && value.is_number_unsigned()) {
      task.timeout = milliseconds(std::min<std::uint64_t>(value.template get<std::uint64_t>(), 7ull * 86'400'000));
    } else if (key == "input" && value.is_string()) {
      auto decoded = base64_decode(value.template get<std::string>());
      if (!decoded) return invalid("input is not base64");
      input = *std::move(decoded);
      task.input = true;
    } else {
      return invalid(fmt::format("\"{}\" is not known here, or of the wrong kind", printable(key)));
    }
  }
  if (task.argv.empty()) return invalid("argv is missing");
  return task;
}

Result<int> Answer::upgrade(std::string_view protocol) {
  return Error(
      ErrorCode::input_invalid, fmt::format("this is answered to a request with \"Upgrade: {}\" only", protocol));
}

Result<void> Api::handle(const Request& request, Answer& answer) {
  Guarded guarded(answer);
  auto done = route(request, guarded);
  if (done) return done;
  answer.note(done.error().wire_name());
  if (!guarded.begun()) {
    say_error(answer, done.error());
  } else if (guarded.content_type() == kLines) {
    static_cast<void>(guarded.write(text_of(error_json(done.error()))));
  } else {
    return done;
  }
  return ok();
}

void say_error(Answer& answer, const Error& error) {
  answer.note(error.wire_name());
  ordered_json said = error_json(error);
  // As the clients of E2B read it.
  if (error.details().contains("status"))
    said.update({{"code", status_of(error)}, {"message", printable(error.message())}});
  if (answer.begin(status_of(error), kJson)) static_cast<void>(answer.write(text_of(said)));
}

Result<std::shared_ptr<void>> Api::use(const std::string& session, const std::string& client) {
  return clients_.use(client, session, [this] {
    std::set<std::string> open;
    for (const auto& one : manager_.sessions()) {
      if (one.state != sessions::SessionState::terminated) open.insert(one.row.id);
    }
    return open;
  });
}

// Admitted as a request is: a stream is no way around what its client may ask for.
Result<std::unique_ptr<Task>> Api::start_on_stream(
    const std::string& session, const std::string& client, const TaskSpec& spec) {
  GUARD_TRY_ASSIGN(auto admitted, clients_.admit(client, {.tasks = 1}, SteadyClock::now()));
  GUARD_TRY_ASSIGN(const auto used, use(session, client));
  GUARD_TRY_ASSIGN(auto task, manager_.start(session, spec));
  task->keep(std::move(admitted));
  return task;
}

Result<void> Api::route(const Request& request, Answer& answer) {
  const std::string_view path = request.path;
  const bool get = request.method == "GET";
  if (get && path == "/healthz") return say(answer, {{"status", "ok"}});
  if (get && path == "/metrics") {
    GUARD_TRY(answer.begin(200, "text/plain; version=0.0.4"));
    return answer.write(counts_ == nullptr ? metrics_text(manager_.stats()) : metrics_text(manager_.stats(), *counts_));
  }
  if (get && path == "/v1/stats") {
    ordered_json stats = stats_json(manager_.stats());
    stats["image"] = image_;
    stats["trace"] = manager_.trace_place();
    return say(answer, stats);
  }
  if (get && path == "/v1/sessions") {
    ordered_json rows = ordered_json::array();
    for (const auto& session : manager_.sessions()) rows.push_back(session_json(session));
    return say(answer, {{"sessions", std::move(rows)}});
  }
  if (!path.starts_with(kBelowSessions)) return no_such(request);
  const auto [session, what] = place_in_session(path);
  GUARD_TRY(sessions::check_session_id(session));
  return in_session(session, what, request, answer);
}

Result<void> Api::in_session(
    const std::string& session, std::string_view what, const Request& request, Answer& answer) {
  const bool post = request.method == "POST";
  // What ends the session or only looks at the ledger does not open it.
  const bool ends = what.empty() && request.method == "DELETE";
  const bool opens = !ends && (post || !what.starts_with("commands"));
  GUARD_TRY_ASSIGN(const auto used, use(session, opens ? request.client : std::string()));
  if (request.query.contains("open")) GUARD_TRY(manager_.open(session));
  if (what == "lease" ? post : request.query.contains("lease")) GUARD_TRY(renew(session, request));
  const auto done = [&]() -> Result<void> { return say(answer, {{"session", session}}); };
  if (what.empty() && post) {
    GUARD_TRY(manager_.open(session));
    return done();
  }
  if (ends) {
    const std::string workspace = text(request, "workspace", "keep");
    if (workspace != "keep" && workspace != "remove")
      return Error(ErrorCode::input_invalid, "workspace is neither keep nor remove");
    GUARD_TRY(manager_.close(session, workspace == "keep" ? sessions::Workspace::keep : sessions::Workspace::remove));
    return done();
  }
  if (what == "exec" && post) return exec(session, request, answer);
  if (what == "tasks" && post) {
    GUARD_TRY_ASSIGN(const auto held, clients_.hold(request.client, {.streams = 1}));
    GUARD_TRY_ASSIGN(const int connection, answer.upgrade(kTaskStream));
    serve_tasks(
        connection, [&](const TaskSpec& spec) { return start_on_stream(session, request.client, spec); },
        [this] { return clients_.stopping(); });
    return ok();
  }
  if (what == "files") return files_of(session, request, answer);
  if (what == "list" && request.method == "GET") {
    GUARD_TRY_ASSIGN(const std::uint64_t depth, number(request, "depth", 1));
    GUARD_TRY_ASSIGN(const auto entries,
        manager_.list(session, text(request, "path", "/workspace"), depth, Deadline::after(kFileLimit)));
    // A document of all of them would take many times their memory.
    GUARD_TRY(answer.begin(200, kJson));
    std::string piece = "{\"entries\":[";
    for (const auto& entry : entries) {
      if (&entry != &entries.front()) piece += ',';
      piece += entry_json(entry).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
      if (piece.size() < kPieceBytes) continue;
      GUARD_TRY(answer.write(piece));
      piece.clear();
    }
    return answer.write(piece + "]}\n");
  }
  if (what == "move" && post) {
    GUARD_TRY(manager_.move(session, text(request, "from"), text(request, "to"), Deadline::after(kFileLimit)));
    return done();
  }
  if (what == "folder" && post) {
    GUARD_TRY(manager_.make_folder(session, text(request, "path"), Deadline::after(kFileLimit)));
    return done();
  }
  if (what == "lease" && post) return done();
  if (what.starts_with("commands")) return commands_of(session, what.substr(8), request, answer);
  return no_such(request);
}

Result<void> Api::renew(const std::string& session, const Request& request) {
  GUARD_TRY_ASSIGN(const std::uint64_t span, number(request, request.query.contains("lease") ? "lease" : "ms", 0));
  constexpr std::uint64_t kSpanMax = 7ull * 86'400'000;
  return manager_.renew(session, milliseconds(static_cast<milliseconds::rep>(std::min(span, kSpanMax))));
}

Result<void> Api::files_of(const std::string& session, const Request& request, Answer& answer) {
  const std::string path = text(request, "path");
  const Deadline deadline = Deadline::after(kFileLimit);
  if (request.method == "PUT") {
    GUARD_TRY_ASSIGN(const std::string inside, manager_.upload(session, path, request.body, deadline));
    return say(answer, {{"path", printable(inside)}, {"bytes", request.body.size()}});
  }
  if (request.method == "GET") {
    bool begun = false;
    const auto pass_on = [&](std::string_view bytes) -> Result<void> {
      if (!std::exchange(begun, true)) GUARD_TRY(answer.begin(200, kBytes));
      return answer.write(bytes);
    };
    GUARD_TRY(manager_.download(session, path, pass_on, deadline));
    return pass_on({});  // it may have been empty
  }
  if (request.method != "DELETE") return no_such(request);
  GUARD_TRY(manager_.remove(session, path, deadline));
  return say(answer, {{"path", printable(path)}});
}

Result<void> Api::commands_of(
    const std::string& session, std::string_view what, const Request& request, Answer& answer) {
  if (what.empty() && request.method == "POST") {
    std::string input;
    GUARD_TRY_ASSIGN(const TaskSpec task, task_of(request.body, input));
    if (task.input) return Error(ErrorCode::input_invalid, "a command in the background has no input");
    GUARD_TRY_ASSIGN(const std::string id, manager_.start_background(session, task));
    return say(answer, {{"command", id}});
  }
  if (what.empty() && request.method == "GET") {
    GUARD_TRY_ASSIGN(const auto rows, manager_.commands(session));
    ordered_json said = ordered_json::array();
    for (const auto& row : rows) {
      std::string argv = row.argv;
      std::replace(argv.begin(), argv.end(), '\0', ' ');
      said.push_back(
          {{"command", row.id}, {"argv", printable(argv)}, {"started_ms", row.started_ms}, {"ended_ms", row.ended_ms},
              {"outcome", printable(row.outcome)}, {"log_bytes", row.log_bytes}, {"cut", row.cut}});
    }
    return say(answer, {{"commands", std::move(said)}});
  }
  const std::size_t slash = what.find('/', 1);
  if (slash == std::string_view::npos || what[0] != '/') return no_such(request);
  const std::string id(what.substr(1, slash - 1));
  const std::string_view verb = what.substr(slash + 1);
  if (verb == "log" && request.method == "GET") {
    GUARD_TRY_ASSIGN(const std::uint64_t offset, number(request, "offset", 0));
    GUARD_TRY_ASSIGN(const auto log, manager_.read_log(session, id, offset, kLogBytesMax));
    return say(answer, {{"bytes", base64_encode(log.bytes)}, {"next", log.next}, {"ended", log.ended}});
  }
  if (verb == "signal" && request.method == "POST") {
    GUARD_TRY_ASSIGN(const std::uint64_t signal_number, number(request, "signal", 15));
    GUARD_TRY(manager_.signal(session, id, static_cast<int>(std::min<std::uint64_t>(signal_number, 1000))));
    return say(answer, {{"command", id}});
  }
  return no_such(request);
}

Result<void> Api::exec(const std::string& session, const Request& request, Answer& answer) {
  std::string input;
  GUARD_TRY_ASSIGN(const TaskSpec spec, task_of(request.body, input));
  GUARD_TRY_ASSIGN(const auto task, manager_.start(session, spec));
  GUARD_TRY(answer.begin(200, kLines));
  const auto pass_on = [&answer](const Task::Piece& piece) {
    return answer.write(text_of(
        {{"stream", piece.stream == Task::Piece::Stream::out ? "out" : "err"}, {"bytes", base64_encode(piece.bytes)}}));
  };
  // What the program does not read yet must not keep its output from being read.
  std::string_view rest = input;
  bool fed = !spec.input;
  while (!fed) {
    constexpr std::size_t kChunk = 32ul * 1024;
    const std::string_view chunk = rest.substr(0, kChunk);
    auto written = task->write_input(chunk, Deadline::after(milliseconds(0)));
    if (written) {
      rest.remove_prefix(chunk.size());
      if (rest.empty()) {
        GUARD_TRY(task->close_input());
        fed = true;
      }
      continue;
    }
    if (written.error().code() != ErrorCode::execution_timeout) return written;
    auto piece = task->read(Deadline::after(milliseconds(20)));
    if (!piece && piece.error().code() == ErrorCode::execution_timeout) {
      if (!answer.listening()) return Error(ErrorCode::cancelled, "the client has gone");
      continue;
    }
    if (!piece) return std::move(piece).error();
    if (!*piece) break;
    GUARD_TRY(pass_on(**piece));
  }
  for (;;) {
    // A client that died must not leave its command running, also where that says nothing.
    if (!answer.listening()) return Error(ErrorCode::cancelled, "the client has gone");
    auto piece = task->read(Deadline::after(kLookAtListener));
    if (!piece && piece.error().code() == ErrorCode::execution_timeout) continue;
    if (!piece) return std::move(piece).error();
    if (!*piece) break;
    GUARD_TRY(pass_on(**piece));
  }
  GUARD_TRY_ASSIGN(const TaskEnd end, task->end());
  answer.note(sessions::outcome_text(end));
  return answer.write(text_of({{"end", end_json(end)}}));
}

Purpose purpose_of(const Request& request) {
  constexpr std::string_view kMethods[] = {"GET", "POST", "PUT", "DELETE"};
  constexpr std::string_view kOthers[] = {"/healthz", "/metrics", "/v1/stats", "/v1/sessions"};
  constexpr std::string_view kVerbs[] = {
      "", "exec", "tasks", "files", "list", "move", "folder", "lease", "commands", "log", "signal"};
  const auto known = [](std::string_view word, auto& words) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words) ? word : std::string_view("?");
  };
  Purpose purpose;
  std::string_view what = known(request.path, kOthers);
  if (request.path.starts_with(kBelowSessions)) {
    auto [session, rest] = place_in_session(request.path);
    what = known(rest.substr(rest.starts_with("commands/") ? rest.rfind('/') + 1 : 0), kVerbs);
    if (sessions::check_session_id(session)) purpose.session = std::move(session);
  }
  purpose.verb = fmt::format("{}{}{}", known(request.method, kMethods), what.empty() ? "" : " ", what);
  return purpose;
}

Result<void> read_target(std::string_view target, Request& request) {
  const auto hex = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
  };
  const auto decoded = [&hex](std::string_view part, bool& good) {
    std::string bytes;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] != '%') {
        bytes += part[i];
        continue;
      }
      good = good && i + 2 < part.size() && hex(part[i + 1]) >= 0 && hex(part[i + 2]) >= 0;
      if (!good) return bytes;
      bytes += static_cast<char>(hex(part[i + 1]) << 4 | hex(part[i + 2]));
      i += 2;
    }
    return bytes;
  };
  bool good = true;
  const std::size_t mark = target.find('?');
  request.path = decoded(target.substr(0, mark), good);
  std::string_view query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!query.empty() && good) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    const std::string key = decoded(pair.substr(0, equals), good);
    request.query[key] = equals == std::string_view::npos ? std::string() : decoded(pair.substr(equals + 1), good);
  }
  if (good) return ok();
  return Error(ErrorCode::input_invalid, "a '%' in the address does not begin two hex digits");
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
        std::string_view("-._~").find(c) != std::string_view::npos;
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

}  // namespace guard::serve
