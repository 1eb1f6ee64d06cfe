#include "serve/e2b/interpreter.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "runner/process/run_folder.h"
#include "serve/e2b/files.h"
#include "serve/e2b/rpc.h"
#include "serve/e2b/sandboxes.h"

extern "C" {
extern const char guard_e2b_charts[];
extern const char guard_e2b_charts_end[];
extern const char guard_e2b_python[];
extern const char guard_e2b_python_end[];
}

namespace guard::serve::e2b {
namespace {

constexpr milliseconds kLook{250};
constexpr milliseconds kAliveEvery{30'000};
constexpr milliseconds kInputMax{30'000};
constexpr milliseconds kInterruptMax{2'000};
constexpr std::size_t kLineBytesMax = 16ul << 20;  // pictures
constexpr std::size_t kErrorsBytesMax = 64ul << 10;
constexpr std::size_t kPathBytesMax = 4096;
constexpr JsonLimits kEventLimits{100'000, 10'000};
constexpr std::size_t kContextsMax = 16;
constexpr const char* kDefault = "default";

std::string line_of(const ordered_json& event) { return ascii_text(event) + "\n"; }

Error not_found(const std::string& id) {
  return rpc_error("not_found", fmt::format("Context {} not found", printable(cut_text(id, 80, "..."))));
}

}  // namespace

Result<std::shared_ptr<Contexts::Context>> Contexts::context_of(const std::string& id, const std::string& home) {
  const std::lock_guard lock(mutex_);
  const std::string wanted = id.empty() ? kDefault : id;
  auto found = all_.find(wanted);
  if (found == all_.end() && wanted != kDefault) return not_found(id);
  if (found == all_.end()) {
    found = all_.emplace(wanted, std::make_shared<Context>()).first;
    found->second->id = wanted;
    found->second->cwd = home;
  }
  return found->second;
}

// One execution, from the moment that the context is its own.
struct Contexts::Run {
  Context& context;
  Task& task;
  const std::string id;  // of every event that is its own
  Answer& answer;
  std::unique_ptr<sessions::Trace::Step> step;  // null: nobody traces
  std::int64_t exit_code = 0;
  bool is_heard = true;

  void trace(const json& event) {
    const std::string type = text(event, "type");
    if (type == "error") exit_code = 1;
    const bool is_error = type == "error" || type == "stderr";
    if (is_error || type == "stdout")
      step->push(is_error ? Task::Piece::Stream::err : Task::Piece::Stream::out,
          text(event, type == "error" ? "traceback" : "text"));
  }
  Result<void> say(const ordered_json& event) {
    if (step) trace(event);
    if (is_heard) is_heard = answer.listening() && answer.write(line_of(event)).has_value();
    return ok();
  }

  // Whether that was the last event.
  bool take(const std::string& line) {
    auto event = parse_json(line, RepeatedKeys::last_counts, kEventLimits);
    if (!event || !event->is_object() || !event->contains("type")) {
      static_cast<void>(say({{"type", "stderr"}, {"text", "[guard: a line that is no event was left out]\n"}}));
      return false;
    }
    // Of an earlier execution, or made up.
    if (event->value("id", json()) != json(id)) return false;
    event->erase("id");
    static_cast<void>(say(ordered_json(*event)));
    return (*event)["type"] == "end_of_execution";
  }

  // Until it has ended, or nobody listens, or `deadline`. False: it has not.
  Result<bool> follow(Deadline deadline) {
    auto said = SteadyClock::now();
    std::string errors;
    for (;;) {
      std::string& pending = context.pending;
      for (std::size_t end = 0; (end = pending.find('\n', context.looked)) != std::string::npos;) {
        const std::string line = pending.substr(0, end);
        pending.erase(0, end + 1);
        context.looked = 0;
        said = SteadyClock::now();
        if (!take(line)) continue;
        if (!errors.empty()) GUARD_TRY(say({{"type", "stderr"}, {"text", errors}}));
        return true;
      }
      context.looked = pending.size();
      if (pending.size() > kLineBytesMax)
        return Error(ErrorCode::file_too_large, fmt::format("one event is over {} MB", kLineBytesMax >> 20));
      if (is_heard && !answer.listening()) is_heard = false;
      if (deadline.passed() || (!is_heard && deadline.remaining() == milliseconds::max())) return false;
      auto piece = task.read(Deadline::after(kLook));
      if (!piece && piece.error().code() == ErrorCode::execution_timeout) {
        if (SteadyClock::now() - said < kAliveEvery) continue;
        GUARD_TRY(say({{"type", "keepalive"}}));
        said = SteadyClock::now();
        continue;
      }
      if (!piece) return std::move(piece).error();
      if (!*piece) {
        GUARD_TRY(task.end());
        return Error(ErrorCode::execution_failed, "the interpreter has ended: by the code, or it was killed");
      }
      if ((*piece)->stream == Task::Piece::Stream::out) {
        pending += (*piece)->bytes;
        continue;
      }
      // By lines, so that no character is cut.
      errors += (*piece)->bytes;
      const std::size_t whole = errors.size() > kErrorsBytesMax ? errors.size() : errors.rfind('\n') + 1;
      if (whole > 0) GUARD_TRY(say({{"type", "stderr"}, {"text", errors.substr(0, whole)}}));
      errors.erase(0, whole);
    }
  }
};

Result<std::shared_ptr<Task>> Contexts::started(Sandboxes& sandboxes, const Sandbox& sandbox, Context& context) {
  {
    const std::lock_guard lock(mutex_);
    if (context.task != nullptr && !context.task->ended()) return context.task;
  }
  TaskSpec spec;
  spec.argv = {"python3", "-u", "-c",
      std::string(guard_e2b_charts, guard_e2b_charts_end).append(guard_e2b_python, guard_e2b_python_end)};
  spec.env = sandbox.made.env;
  start_in(sandbox, context.cwd, spec);
  spec.input = true;
  spec.title = "";  // each code is a step
  GUARD_TRY_ASSIGN(std::shared_ptr<Task> task, sandboxes.start(sandbox, spec));
  context.pending.clear();
  context.looked = 0;
  const std::lock_guard lock(mutex_);
  return context.task = std::move(task);
}

Result<void> Contexts::execute(Sandboxes& sandboxes, const Sandbox& sandbox, const Request& request, Answer& answer) {
  GUARD_TRY_ASSIGN(const json body, object_of(request.body));
  const json code = body.value("code", json());
  if (!code.is_string()) return Error(ErrorCode::input_invalid, "code must be a string");
  for (const char* key : {"language", "context_id"}) {
    if (!body.value(key, json("")).is_string() && !body[key].is_null())
      return Error(ErrorCode::input_invalid, fmt::format("{} must be a string", key));
  }
  if (const std::string language = text(body, "language"); !language.empty() && language != "python")
    return rpc_error("unimplemented", fmt::format("guard's interpreter speaks Python, not {}", printable(language)));
  GUARD_TRY_ASSIGN(const auto env, variables(body, "env_vars"));
  GUARD_TRY_ASSIGN(const auto context, context_of(text(body, "context_id"), sandbox.home));
  std::unique_lock turn(context->turn, std::defer_lock);
  while (!turn.try_lock_for(kLook)) {
    if (!answer.listening()) return Error(ErrorCode::cancelled, "the client has gone");
  }
  GUARD_TRY_ASSIGN(const auto task, started(sandboxes, sandbox, *context));
  GUARD_TRY_ASSIGN(const std::string id, new_run_id());
  // The client waits for this before the code has said anything; one that has gone wants nothing to be run.
  GUARD_TRY(answer.begin(200, "application/x-ndjson"));
  auto given = env;
  given.insert(sandbox.made.env.begin(), sandbox.made.env.end());
  Run run{*context, *task, id, answer, sandboxes.manager().begin_step(sandbox.session(), code, given)};
  const auto begun = SteadyClock::now();
  const auto finish_step = [&](std::string outcome, std::optional<std::int64_t> exit_code) {
    const auto elapsed = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - begun);
    if (run.step) run.step->finish({std::move(outcome), exit_code, elapsed});
  };
  auto ended = [&]() -> Result<bool> {
    GUARD_TRY(task->write_input(line_of({{"id", id}, {"code", code}, {"env", env}}), Deadline::after(kInputMax)));
    GUARD_TRY_ASSIGN(const bool is_over, run.follow(Deadline::never()));
    if (is_over) return true;
    // Nobody listens any more. What the code has made stays, if it can be stopped as Ctrl-C would.
    GUARD_TRY(task->signal(SIGINT));
    return run.follow(Deadline::after(kInterruptMax));
  }();
  if (ended && *ended) {
    finish_step(fmt::format("exited {}", run.exit_code), run.exit_code);
    return ok();
  }
  static_cast<void>(task->signal(SIGKILL));
  {
    const std::lock_guard lock(mutex_);
    if (context->task == task) context->task.reset();
  }
  if (!ended && !sandbox.over) {
    static_cast<void>(run.say({{"type", "error"}, {"name", ended.error().wire_name()},
        {"value", printable(ended.error().message())}, {"traceback", printable(ended.error().message())}}));
  }
  finish_step(ended ? "abandoned" : std::string(ended.error().wire_name()), std::nullopt);
  if (sandbox.over) return Error(ErrorCode::environment_unavailable, "the sandbox was ended");
  return ok();
}

Result<ordered_json> Contexts::manage(const Sandbox& sandbox, const Request& request) {
  constexpr std::string_view kContexts = "/contexts";
  const std::string_view path = std::string_view(request.path).substr(kContexts.size());
  const auto shown = [](const Context& one) {
    return ordered_json{{"id", one.id}, {"language", "python"}, {"cwd", one.cwd}};
  };
  if (path.empty() && request.method == "GET") {
    GUARD_TRY(context_of("", sandbox.home));
    const std::lock_guard lock(mutex_);
    ordered_json rows = ordered_json::array();
    for (const auto& [id, one] : all_) rows.push_back(shown(*one));
    return rows;
  }
  if (path.empty() && request.method == "POST") {
    GUARD_TRY_ASSIGN(const json body, request.body.empty() ? Result<json>(json::object()) : object_of(request.body));
    if (const std::string language = text(body, "language"); !language.empty() && language != "python")
      return rpc_error("unimplemented", "guard's interpreter speaks Python");
    const std::string cwd = text(body, "cwd");
    if (cwd.size() > kPathBytesMax) return Error(ErrorCode::input_invalid, "cwd is too long");
    GUARD_TRY_ASSIGN(const std::string id, new_run_id());
    const auto made = std::make_shared<Context>();
    made->id = id;
    made->cwd = absolute(sandbox, cwd);
    const std::lock_guard lock(mutex_);
    if (all_.size() >= kContextsMax)
      return rpc_error("resource_exhausted", fmt::format("{} contexts are open: remove one", kContextsMax));
    all_[id] = made;
    return shown(*made);
  }
  const std::string_view rest = path.empty() ? path : path.substr(1);
  const std::string id(rest.substr(0, rest.find('/')));
  const bool restarts = rest.ends_with("/restart") && request.method == "POST";
  if (id.empty() || (!restarts && request.method != "DELETE"))
    return rpc_error("unimplemented", "guard does not offer this of a context");
  GUARD_TRY_ASSIGN(const auto found, context_of(id, sandbox.home));
  // Whoever runs code in it hears that it has ended.
  const std::lock_guard lock(mutex_);
  if (found->task) static_cast<void>(found->task->signal(SIGKILL));
  found->task.reset();
  if (!restarts) all_.erase(id);
  return restarts ? ordered_json::object() : ordered_json();
}

Result<void> Contexts::answer(Sandboxes& sandboxes, const Sandbox& sandbox, const Request& request, Answer& answer) {
  const auto refuse = [&answer](const Error& error) -> Result<void> {
    const std::string_view code = rpc_code(error);
    answer.note(error.wire_name());
    say_json(answer,
        code == "not_found"                ? 404
            : code == "invalid_argument"   ? 400
            : code == "unimplemented"      ? 501
            : code == "resource_exhausted" ? 429
                                           : 500,
        {{"detail", printable(error.message())}});
    return ok();
  };
  if (request.path == "/execute") {
    if (request.method != "POST") return refuse(rpc_error("unimplemented", "POST code"));
    const auto done = execute(sandboxes, sandbox, request, answer);
    return done || sandbox.over ? done : refuse(done.error());
  }
  const auto said = manage(sandbox, request);
  if (!said) return refuse(said.error());
  say_json(answer, said->is_null() ? 204 : 200, *said);
  return ok();
}

void Contexts::end() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, one] : all_) {
    if (one->task) static_cast<void>(one->task->signal(SIGKILL));
  }
  all_.clear();
}

}  // namespace guard::serve::e2b
