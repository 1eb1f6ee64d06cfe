#include "sessions/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/output_cap.h"
#include "common/text/text.h"
#include "redact/redactor.h"
#include "sessions/session_task.h"

namespace guard::sessions {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kSessionsMax = 10'000;  // whose steps are counted on
constexpr std::size_t kCommandBytesMax = 16ul * 1024;
constexpr std::size_t kFilesMax = 20'000;          // of one step; the rest is counted
constexpr std::size_t kPathBytesMax = 16ul << 20;  // of these
// Of one step, and of connections between two, allowed and refused ones apart: others need room, too.
constexpr std::size_t kLinesMax = 1'000;
constexpr std::size_t kLineBytesMax = 1ul << 20;  // of all of them
constexpr std::size_t kVariablesMax = 200;        // of a session
// What says nothing that is secret, and stands in many texts.
constexpr std::string_view kPlainVariables[] = {"HOME", "PWD", "PATH", "LANG", "TERM", "SHELL", "USER", "TMPDIR"};
constexpr std::string_view kWithheld = "[withheld: it could not be masked]";

std::string line_of(const ordered_json& event) {
  return event.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// Without a member where all were told.
template <typename Connections>
ordered_json left_out_of(const Connections& told) {
  const auto above = [](std::uint64_t count) { return count - std::min<std::uint64_t>(count, kLinesMax); };
  const std::uint64_t allowed = above(told.allowed), refused = above(told.refused);
  if (allowed + refused == 0) return ordered_json::object();
  return {{"connections_left_out", allowed + refused}, {"allowed_left_out", allowed},
      {"bytes_up_left_out", told.bytes_up_left_out}, {"bytes_down_left_out", told.bytes_down_left_out}};
}

constexpr std::size_t kSpanCommandBytesMax = 4ul * 1024;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

// One stream of a step: masked, then cut.
struct Capture {
  Capture(const SecretSource* secrets, OutputBudget& budget)
      : cap(budget, kept),
        redactor(secrets == nullptr ? Result<Redactor>(Error(ErrorCode::internal, "no secrets"))
                                    : Redactor::create(*secrets, cap)) {}
  void push(std::string_view bytes) { failed = failed || !redactor || !redactor->push(bytes); }
  std::string finish(bool is_whole) {
    failed = failed || !redactor || !(is_whole ? redactor->finish() : redactor->finish_cut());
    return failed ? std::string(kWithheld) : std::move(kept.text);
  }
  StringSink kept;
  OutputCap cap;
  Result<Redactor> redactor;
  bool failed = false;
};

struct Trace::Step::State {
  State(std::shared_ptr<Trace> owner, std::string id, std::string text, UniqueFd folder,
      const std::map<std::string, std::string>& env)
      : trace(std::move(owner)),
        session_id(std::move(id)),
        session(trace->session(session_id, For::step)),
        secrets(trace->secrets_of(*session, env)),
        command(std::move(text)),
        workspace(std::move(folder)),
        budget(trace->settings_.output_bytes_max),
        out(secrets.get(), budget),
        err(secrets.get(), budget) {}
  std::string masked(std::string_view text) const {
    return secrets == nullptr ? std::string(kWithheld) : redact_text(*secrets, text).value_or(std::string(kWithheld));
  }
  std::optional<WorkspaceFiles> files() const {
    return workspace ? workspace_files(workspace.get()) : std::optional<WorkspaceFiles>();
  }

  const std::shared_ptr<Trace> trace;
  const std::string session_id;
  const std::shared_ptr<Session> session;
  const std::shared_ptr<const SecretSource> secrets;
  const std::string command;
  const UniqueFd workspace;
  const std::int64_t begun_ns = now_ns();
  OutputBudget budget;
  Capture out;
  Capture err;
};

Result<std::shared_ptr<Trace>> Trace::open(Settings settings) {
  std::optional<JsonLog> log;
  if (!settings.file.empty()) {
    GUARD_TRY_ASSIGN(log, JsonLog::open(settings.file));
  }
  return std::shared_ptr<Trace>(new Trace(std::move(settings), std::move(log)));
}

Trace::~Trace() {
  try {
    for (const auto& [id, session] : sessions_) write_left_out(id, *session);
  } catch (const std::exception&) {
    // No memory: these counts are lost.
  }
}

std::shared_ptr<Trace::Session> Trace::session(const std::string& id, For use) {
  const std::lock_guard lock(mutex_);
  if (sessions_.size() >= kSessionsMax && !sessions_.contains(id)) {
    const auto is_unused = [](const auto& one) { return one.second.use_count() == 1; };
    auto gone = std::ranges::find_if(sessions_, [&](const auto& one) { return is_unused(one) && one.second->ended; });
    if (gone == sessions_.end()) gone = std::ranges::find_if(sessions_, is_unused);
    if (gone != sessions_.end()) {
      write_left_out(gone->first, *gone->second);
      has_forgotten_ = has_forgotten_ || !gone->second->env.empty() || gone->second->cannot_be_masked;
      sessions_.erase(gone);
    }
  }
  auto& found = sessions_[id];
  if (!found) {
    found = std::make_shared<Session>();
    found->cannot_be_masked = use == For::connection && has_forgotten_;
  }
  if (use == For::step) found->ended = false;
  return found;
}

void Trace::end(const std::string& id) {
  std::shared_ptr<Session> known;
  {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return;
    known = found->second;
    known->ended = true;
  }
  write_left_out(id, *known);
}

std::shared_ptr<const SecretSource> Trace::secrets_of(
    Session& session, const std::map<std::string, std::string>& env) const {
  const std::lock_guard lock(session.mutex);
  if (session.cannot_be_masked) return nullptr;
  bool is_new = session.secrets == nullptr;
  for (const auto& [name, value] : env) {
    if (std::ranges::find(kPlainVariables, name) != std::end(kPlainVariables)) continue;
    if (session.env.size() >= kVariablesMax && !session.env.contains(name)) {
      session.cannot_be_masked = true;
      return nullptr;
    }
    std::string& known = session.env[name];
    // Of a variable that had another value before, the old one is in what was made with it.
    if (!known.empty() && known != value) session.env[fmt::format("{}.{}", name, session.env.size())] = known;
    is_new = is_new || known != value;
    known = value;
  }
  if (!is_new) return session.secrets;
  session.secrets = nullptr;
  if (session.env.empty() || !settings_.secrets_with) {
    session.secrets = std::shared_ptr<const SecretSource>(std::shared_ptr<void>(), &settings_.secrets);  // not owned
  } else if (auto made = settings_.secrets_with(session.env); made) {
    session.secrets = std::make_shared<const SecretSource>(std::move(*made));
  }
  return session.secrets;
}

Trace::End Trace::end_of(const TaskEnd& end) {
  const bool exited = end.outcome.kind == OutcomeKind::exited;
  return {outcome_text(end), exited ? std::optional(end.outcome.value) : std::nullopt, end.elapsed};
}

std::unique_ptr<Trace::Step> Trace::begin(const std::string& session, std::string command, UniqueFd workspace,
    const std::map<std::string, std::string>& env) {
  return std::make_unique<Step>(shared_from_this(), session, std::move(command), std::move(workspace), env);
}

Trace::Step::Step(std::shared_ptr<Trace> trace, std::string session, std::string command, UniqueFd workspace,
    const std::map<std::string, std::string>& env)
    : state_(std::make_unique<State>(
          std::move(trace), std::move(session), std::move(command), std::move(workspace), env)) {
  const std::lock_guard lock(state_->session->mutex);
  if (state_->session->live++ == 0) state_->session->files = state_->files();
}

Trace::Step::~Step() {
  const std::lock_guard lock(state_->session->mutex);
  if (--state_->session->live == 0) state_->session->files.reset();
}

void Trace::Step::push(Task::Piece::Stream stream, std::string_view bytes) {
  (stream == Task::Piece::Stream::out ? state_->out : state_->err).push(bytes);
}

void Trace::Step::finish(const End& end) {
  const Trace& trace = *state_->trace;
  const std::string out = state_->out.finish(end.exit_code.has_value());
  const std::string err = state_->err.finish(end.exit_code.has_value());
  const std::string command = cut_text(state_->masked(state_->command), kCommandBytesMax, "...");
  ordered_json event = {{"event", "SKILL_EXECUTION_STEP"}, {"session", state_->session_id}, {"step", 0},
      {"command", command}, {"outcome", end.outcome},
      {"exit_code", end.exit_code ? ordered_json(*end.exit_code) : ordered_json()}, {"elapsed_ms", end.elapsed.count()},
      {"stdout", out}, {"stderr", err}, {"dropped_bytes", state_->budget.dropped_bytes()}};
  Session& session = *state_->session;
  const std::lock_guard lock(session.mutex);
  event["step"] = ++session.steps;
  event.update(left_out_of(std::exchange(session.connections, {})));
  const auto before = std::exchange(session.files, state_->files());
  std::vector<std::string> paths;
  std::uint64_t left_out = 0;
  const std::int64_t now = now_ns();
  std::vector<Artifact> made;
  const WorkspaceFiles nothing;
  std::size_t path_bytes = 0;
  for (const auto& [path, state] : (before && session.files ? *session.files : nothing).files) {
    const auto known = before->files.find(path);
    if (known != before->files.end() && known->second == state) continue;
    path_bytes += path.size();
    if ((made.size() >= kFilesMax || path_bytes > kPathBytesMax) && ++left_out > 0) continue;
    paths.push_back(path);
    Artifact& one = made.emplace_back();
    one.session = state_->session_id;
    one.step = session.steps;
    one.path = state_->masked(path);
    one.bytes = state.bytes;
    one.outcome = end.outcome;
    one.made_ms = now / 1'000'000;
  }
  if (trace.settings_.catalogue) {
    const auto open_file = [&](std::size_t row) { return open_workspace_file(state_->workspace.get(), paths[row]); };
    if (const auto added = trace.settings_.catalogue->add(made, open_file); !added)
      event["catalogue"] = state_->masked(added.error().to_string());
  }
  if (trace.settings_.take_span) {
    trace.settings_.take_span({state_->session_id, session.steps, cut_text(command, kSpanCommandBytesMax, "..."),
        end.outcome, end.exit_code, state_->begun_ns, std::max(now, state_->begun_ns), made.size() + left_out});
  }
  if (!trace.log_) return;
  if (!before || !session.files) {
    event["files"] = "not compared";
  } else if (!before->is_whole || !session.files->is_whole) {
    event["files"] = "not all seen";
  }
  std::vector<std::string> lines;
  std::size_t line_bytes = 0;
  for (const Artifact& one : made) {
    const std::string path = printable(one.path);
    ordered_json line = {{"event", "ARTIFACT_GENERATED"}, {"session", one.session}, {"step", one.step},
        {"filename", path.substr(path.rfind('/') + 1)}, {"path", "/workspace/" + path}, {"size_bytes", one.bytes}};
    if (one.id != 0)
      line.update({{"artifact", one.id}, {"sha256", one.sha256}, {"media_type", one.media_type}, {"kept", one.kept}});
    lines.push_back(line_of(line));
    line_bytes += lines.back().size();
    if (lines.size() <= kLinesMax && line_bytes <= kLineBytesMax) continue;
    lines.pop_back();
    break;
  }
  left_out += made.size() - lines.size();
  if (left_out > 0) event["files_left_out"] = left_out;
  trace.log_->write(line_of(event));
  for (const std::string& line : lines) trace.log_->write(line);
}

void Trace::write_left_out(const std::string& id, Session& session) const {
  const std::lock_guard lock(session.mutex);
  ordered_json event = {{"event", "NETWORK_CONNECTIONS_LEFT_OUT"}, {"session", id}};
  const ordered_json counts = left_out_of(std::exchange(session.connections, {}));
  event.update(counts);
  if (log_ && !counts.empty()) log_->write(line_of(event));
}

void Trace::tell(const std::string& id, const ConnectionLine& one) {
  if (!log_) return;
  const auto known = session(id, For::connection);
  const auto secrets = secrets_of(*known, {});
  {
    const std::lock_guard lock(known->mutex);
    Connections& told = known->connections;
    if (++(one.allowed ? told.allowed : told.refused) > kLinesMax) {
      told.bytes_up_left_out += one.bytes_up;
      told.bytes_down_left_out += one.bytes_down;
      return;
    }
  }
  const auto host = secrets == nullptr ? Error(ErrorCode::internal, "no secrets") : redact_text(*secrets, one.host);
  log_->write(line_of({{"event", "NETWORK_CONNECTION"}, {"session", id},
      {"host", host ? printable(*host) : std::string(kWithheld)}, {"port", one.port}, {"address", one.address},
      {"allowed", one.allowed}, {"reason", one.reason}, {"bytes_up", one.bytes_up}, {"bytes_down", one.bytes_down},
      {"began_ms", one.began_ms}, {"elapsed_ms", one.elapsed.count()}}));
}

std::string command_text(const std::vector<std::string>& argv) {
  const std::string_view program = argv.empty() ? std::string_view() : argv.front();
  const bool is_line = program.ends_with("sh") && argv.size() >= 3 && argv[argv.size() - 2] == "-c";
  if (is_line || (argv.size() == 3 && program == "bun" && argv[1] == "exec")) return argv.back();
  std::string text;
  for (const std::string& word : argv) {
    const bool is_plain = !word.empty() &&
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-") ==
            std::string::npos;
    text += (text.empty() ? "" : " ") + (is_plain ? word : shell_quoted(word));
  }
  return text;
}

}  // namespace guard::sessions
