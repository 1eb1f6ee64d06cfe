#include "serve/e2b/interpreter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csignal>
#include <set>
#include <utility>
#include <vector>

#include "common/text/characters.h"
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
extern const char guard_e2b_javascript[];
extern const char guard_e2b_javascript_end[];
extern const char guard_e2b_shell[];
extern const char guard_e2b_shell_end[];
}

namespace guard::serve::e2b {

// What a context can be of.
struct Language {
  const char* name;
  const char* short_name;
  const char* context;  // that is always there
  std::vector<std::string> program;
  std::string script;
  bool is_shell = false;        // shell_context.sh; the others speak as python_context.py says
  bool is_interrupted = false;  // and goes on; else what runs is stopped by its end
};

namespace {

constexpr milliseconds kLook{250};
constexpr milliseconds kAliveEvery{30'000};
constexpr milliseconds kInputMax{30'000};
constexpr milliseconds kInterruptMax{2'000};
constexpr std::size_t kLineBytesMax = 16ul << 20;  // pictures
constexpr std::size_t kHeldBytesMax = 64ul << 10;
constexpr std::size_t kPathBytesMax = 4096;
constexpr JsonLimits kEventLimits{100'000, 10'000};
constexpr std::size_t kContextsMax = 16;

const std::vector<Language>& languages() {
  static const std::string javascript(guard_e2b_javascript, guard_e2b_javascript_end);
  static const std::vector<std::string> bun = {"bun", "--no-install", "-e"};
  static const std::vector<Language> all = {
      {.name = "python",
          .short_name = "py",
          .context = "default",
          .program = {"python3", "-u", "-c"},
          .script = std::string(guard_e2b_charts, guard_e2b_charts_end).append(guard_e2b_python, guard_e2b_python_end),
          .is_interrupted = true},
      {"javascript", "js", "default-javascript", bun, javascript},
      {"typescript", "ts", "default-typescript", bun, javascript},
      {.name = "bash",
          .short_name = "sh",
          .context = "default-bash",
          .program = {"-c"},
          .script = std::string(guard_e2b_shell, guard_e2b_shell_end),
          .is_shell = true},
  };
  return all;
}

// Python, where none is named.
Result<const Language*> language_of(const json& body) {
  const std::string wanted = lower_case(text(body, "language"));
  std::vector<std::string> names;
  for (const Language& one : languages()) {
    if (wanted.empty() || wanted == one.name || wanted == one.short_name) return &one;
    names.emplace_back(one.name);
  }
  return rpc_error("unimplemented",
      fmt::format(
          "guard's interpreter speaks {}, not {}", fmt::join(names, ", "), printable(cut_text(wanted, 80, "..."))));
}

std::string line_of(const ordered_json& event) { return ascii_text(event) + "\n"; }

// In one line of shell_context.sh.
Result<std::string> shell_line(
    const std::string& id, const std::string& code, const std::map<std::string, std::string>& env) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kInNames = "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string command;
  for (const auto& [name, value] : env) {
    if (name.find_first_not_of(kInNames) != std::string::npos || kDigits.find(name[0]) != std::string_view::npos)
      return Error(ErrorCode::input_invalid, fmt::format("a shell has no variable {}", printable(name)));
    command += fmt::format("{}={} ", name, shell_quoted(value));
  }
  command += "command eval " + shell_quoted(code);
  return id + " " + replaced(backslashed(command, "\\"), "\n", "\\n") + "\n";
}

Error not_found(const std::string& id) {
  return rpc_error("not_found", fmt::format("Context {} not found", printable(cut_text(id, 80, "..."))));
}

}  // namespace

Result<std::shared_ptr<Contexts::Context>> Contexts::context_of(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(id);
  if (found == all_.end()) return not_found(id);
  return found->second;
}

std::shared_ptr<Contexts::Context> Contexts::default_of(const Language& language, const std::string& home) {
  const std::lock_guard lock(mutex_);
  auto& found = all_[language.context];
  if (found == nullptr) found = std::make_shared<Context>(language.context, language, home);
  return found;
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
  SteadyClock::time_point said = SteadyClock::now();
  json gathered = json::object();    // output that was not said yet
  std::string errors{};              // half a line
  std::set<std::string> finished{};  // outputs of a shell
  bool is_shell_over = false;

  void trace(const json& event) {
    const std::string type = text(event, "type");
    if (type == "error" && exit_code == 0) exit_code = 1;
    const bool is_error = type == "error" || type == "stderr";
    if (is_error || type == "stdout")
      step->push(is_error ? Task::Piece::Stream::err : Task::Piece::Stream::out,
          text(event, type == "error" ? "traceback" : "text"));
  }
  void say(const ordered_json& event) {
    said = SteadyClock::now();
    if (step) trace(event);
    if (is_heard) is_heard = answer.listening() && answer.write(line_of(event)).has_value();
  }

  // Output of one stream that has come at once is one event: a client takes longer for each than a program does.
  void gather(const json& event) {
    const std::string type = text(event, "type");
    const bool is_output = type == "stdout" || type == "stderr";
    if (is_output && gathered.value("type", "") == type && text(gathered, "text").size() < kHeldBytesMax) {
      gathered["text"] = text(gathered, "text") + text(event, "text");
      return;
    }
    say_gathered();
    is_output ? void(gathered = event) : say(ordered_json(event));
  }
  void say_gathered() {
    if (!gathered.empty()) say(ordered_json(std::exchange(gathered, json::object())));
  }

  // Whether that was the last event.
  bool take(const std::string& line) {
    auto event = parse_json(line, RepeatedKeys::last_counts, kEventLimits);
    if (!event || !event->is_object() || !event->contains("type")) {
      say({{"type", "stderr"}, {"text", "[guard: a line that is no event was left out]\n"}});
      return false;
    }
    // Of an earlier execution, or made up.
    if (event->value("id", json()) != json(id)) return false;
    event->erase("id");
    gather(*event);
    return (*event)["type"] == "end_of_execution";
  }

  // Says those lines of `held` that are whole, so that no character is cut; of a shell, up to where the execution ends.
  void print(const char* stream, std::string& held) {
    const std::string mark = fmt::format("\x1e{} ", id);
    const std::size_t found = held.find(mark);
    std::size_t whole = found != std::string::npos ? found : held.rfind('\n') + 1;
    if (whole == 0 && held.size() > kHeldBytesMax) whole = cut_text(held, held.size() - mark.size(), "").size();
    if (whole > 0) say({{"type", stream}, {"text", held.substr(0, whole)}});
    held.erase(0, whole);
    const std::size_t end = held.find('\n');
    if (found == std::string::npos || end == std::string::npos) return;
    std::string_view status = std::string_view(held).substr(mark.size(), end - mark.size());
    static_cast<void>(take_number(status, exit_code));
    is_shell_over = status == " ended";
    held.erase(0, end + 1);
    finished.insert(stream);
  }

  // What has come so far. Whether that is all.
  bool take_lines() {
    std::string& pending = context.pending;
    print("stderr", errors);
    if (context.language.is_shell) {
      print("stdout", pending);
      if (finished.size() < 2) return false;
      const std::string text = fmt::format("exit code {}", exit_code);
      if (exit_code != 0)
        say({{"type", "error"}, {"name", "ExitCode"}, {"value", std::to_string(exit_code)}, {"traceback", text}});
      say({{"type", "end_of_execution"}});
      return true;
    }
    bool is_over = false;
    std::size_t taken = 0;
    for (std::size_t end = 0; !is_over && (end = pending.find('\n', context.looked)) != std::string::npos;) {
      is_over = take(pending.substr(taken, end - taken));
      context.looked = taken = end + 1;
    }
    say_gathered();
    pending.erase(0, taken);
    context.looked = is_over ? 0 : pending.size();
    if (is_over && !errors.empty()) say({{"type", "stderr"}, {"text", errors}});
    return is_over;
  }

  // Until it has ended, or nobody listens, or `deadline`. False: it has not.
  Result<bool> follow(Deadline deadline) {
    for (;;) {
      if (take_lines()) return true;
      if (context.pending.size() > kLineBytesMax)
        return Error(ErrorCode::file_too_large, fmt::format("one event is over {} MB", kLineBytesMax >> 20));
      if (is_heard && !answer.listening()) is_heard = false;
      if (deadline.passed() || (!is_heard && deadline.remaining() == milliseconds::max())) return false;
      auto piece = task.read(Deadline::after(kLook));
      if (!piece && piece.error().code() == ErrorCode::execution_timeout) {
        if (SteadyClock::now() - said >= kAliveEvery) say({{"type", "keepalive"}});
        continue;
      }
      if (!piece) return std::move(piece).error();
      if (!*piece) {
        if (auto end = task.end(); !end && end.error().code() == ErrorCode::file_not_found)
          return Error(ErrorCode::file_not_found,
              fmt::format("the server's image has no {}: `guard serve --image` may name one that has it",
                  context.language.program.front()));
        GUARD_TRY(task.end());
        return Error(
            ErrorCode::execution_failed, "the interpreter has ended, by the code or killed: its variables are lost");
      }
      ((*piece)->stream == Task::Piece::Stream::out ? context.pending : errors) += (*piece)->bytes;
    }
  }
};

Result<std::shared_ptr<Task>> Contexts::started(Sandboxes& sandboxes, const Sandbox& sandbox, Context& context) {
  {
    const std::lock_guard lock(mutex_);
    if (context.task != nullptr && !context.task->ended()) return context.task;
    context.is_lost |= context.task != nullptr;
  }
  const Language& language = context.language;
  TaskSpec spec;
  spec.argv = language.program;
  if (language.is_shell) {
    if (sandbox.shell == "bun") return rpc_error("unimplemented", "the image has no shell");
    spec.argv.insert(spec.argv.begin(), sandbox.shell);
  }
  spec.argv.push_back(language.script);
  spec.env = sandbox.made.env;
  spec.env.insert({"BUN_RUNTIME_TRANSPILER_CACHE_PATH", "0"});  // it would be a folder of the client's
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
  const std::string context_id = text(body, "context_id");
  if (!context_id.empty() && !text(body, "language").empty())
    return Error(ErrorCode::input_invalid, "a context has its language: give one of the two");
  GUARD_TRY_ASSIGN(const Language* const language, language_of(body));
  GUARD_TRY_ASSIGN(const auto env, variables(body, "env_vars"));
  GUARD_TRY_ASSIGN(
      const auto context, context_id.empty() ? default_of(*language, sandbox.home) : context_of(context_id));
  std::unique_lock turn(context->turn, std::defer_lock);
  while (!turn.try_lock_for(kLook)) {
    if (!answer.listening()) return Error(ErrorCode::cancelled, "the client has gone");
  }
  GUARD_TRY_ASSIGN(const auto task, started(sandboxes, sandbox, *context));
  GUARD_TRY_ASSIGN(const std::string id, new_run_id());
  const bool is_shell = context->language.is_shell;
  GUARD_TRY_ASSIGN(const std::string line,
      is_shell ? shell_line(id, code, env) : line_of({{"id", id}, {"code", code}, {"env", env}}));
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
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(context->is_lost, false))
      run.say({{"type", "stderr"}, {"text", "[guard: the context was started anew: its variables are lost]\n"}});
  }
  auto ended = [&]() -> Result<bool> {
    if (is_shell) run.say({{"type", "number_of_executions"}, {"execution_count", ++context->executions}});
    GUARD_TRY(task->write_input(line, Deadline::after(kInputMax)));
    GUARD_TRY_ASSIGN(const bool is_over, run.follow(Deadline::never()));
    if (is_over || !context->language.is_interrupted) return is_over;
    // Nobody listens any more. What the code has made stays, if it can be stopped as Ctrl-C would.
    GUARD_TRY(task->signal(SIGINT));
    return run.follow(Deadline::after(kInterruptMax));
  }();
  const bool is_over = ended && *ended;
  if (!is_over || run.is_shell_over) {
    static_cast<void>(task->signal(SIGKILL));
    const std::lock_guard lock(mutex_);
    if (context->task == task) {
      context->task.reset();
      context->is_lost = ended.has_value();
    }
  }
  if (is_over) {
    finish_step(fmt::format("exited {}", run.exit_code), run.exit_code);
    return ok();
  }
  if (!ended && !sandbox.over) {
    run.say({{"type", "error"}, {"name", ended.error().wire_name()}, {"value", printable(ended.error().message())},
        {"traceback", printable(ended.error().message())}});
  }
  finish_step(ended ? "abandoned" : std::string(ended.error().wire_name()), std::nullopt);
  if (sandbox.over) return Error(ErrorCode::environment_unavailable, "the sandbox was ended");
  return ok();
}

Result<ordered_json> Contexts::manage(const Sandbox& sandbox, const Request& request) {
  constexpr std::string_view kContexts = "/contexts";
  const std::string_view path = std::string_view(request.path).substr(kContexts.size());
  const auto shown = [](const Context& one) {
    return ordered_json{{"id", one.id}, {"language", one.language.name}, {"cwd", one.cwd}};
  };
  if (path.empty() && request.method == "GET") {
    for (const Language* one : {&languages()[0], &languages()[1]}) default_of(*one, sandbox.home);
    const std::lock_guard lock(mutex_);
    ordered_json rows = ordered_json::array();
    for (const auto& [id, one] : all_) rows.push_back(shown(*one));
    return rows;
  }
  if (path.empty() && request.method == "POST") {
    GUARD_TRY_ASSIGN(const json body, request.body.empty() ? Result<json>(json::object()) : object_of(request.body));
    GUARD_TRY_ASSIGN(const Language* const language, language_of(body));
    const std::string cwd = text(body, "cwd");
    if (cwd.size() > kPathBytesMax) return Error(ErrorCode::input_invalid, "cwd is too long");
    GUARD_TRY_ASSIGN(const std::string id, new_run_id());
    const auto made = std::make_shared<Context>(id, *language, absolute(sandbox, cwd));
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
  GUARD_TRY_ASSIGN(const auto found, context_of(id));
  // Whoever runs code in it hears that it has ended.
  const std::lock_guard lock(mutex_);
  if (found->task) static_cast<void>(found->task->signal(SIGKILL));
  found->task.reset();
  found->is_lost = false;
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
