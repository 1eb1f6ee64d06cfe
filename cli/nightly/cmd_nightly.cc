// `guard nightly`: the loop and what is asked about it.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/commands/rule_engine.h"
#include "cli/commands/trusted_inputs.h"
#include "cli/nightly/nightly_parts.h"
#include "cli/progress.h"
#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "nightly/loop/night_run.h"
#include "nightly/loop/supervisor.h"
#include "nightly/loop/wall_clock.h"
#include "nightly/plan/plan.h"
#include "nightly/plan/queue.h"
#include "nightly/report/report.h"
#include "pipeline/credentials.h"
#include "pipeline/gate/gate.h"
#include "pipeline/network.h"
#include "pipeline/report/json_parts.h"
#include "pipeline/run/run_output.h"
#include "runner/process/run_folder.h"
#include "runner/process/subprocess.h"

namespace guard {

namespace fs = std::filesystem;
using nightly::Journal;
using nightly::Night;
using nightly::NightRepository;
using nightly::Plan;
using nightly::StateFolder;
using nightly::Task;

Result<NightlyPlace> nightly_place(const Options& options, CommandContext& context, const CancelToken& cancel) {
  // A loop that was started by a hook must not take that hook's repository for its own.
  for (const char* name : {"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
           "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH"}) {
    ::unsetenv(name);
  }
  GUARD_TRY_ASSIGN(
      NightRepository repository, NightRepository::open(options.project.empty() ? "." : options.project, cancel));
  GUARD_TRY_ASSIGN(StateFolder state, StateFolder::of(repository.top(), options.state, context.environment));
  return NightlyPlace{std::move(repository), std::move(state)};
}

Result<Night> chosen_night(const Journal& journal, const std::string& id) {
  if (!id.empty()) {
    GUARD_TRY_ASSIGN(auto night, journal.night(id));
    if (night) return std::move(*night);
    return Error(ErrorCode::file_not_found, fmt::format("the journal has no night {}", printable(id)))
        .hint("`guard nightly status` names the newest");
  }
  GUARD_TRY_ASSIGN(const auto nights, journal.nights(1));
  if (nights.empty())
    return Error(ErrorCode::file_not_found, "the journal has no night yet").hint("guard nightly run PLAN.toml");
  GUARD_TRY_ASSIGN(auto night, journal.night(nights[0].id));
  if (!night) return Error(ErrorCode::internal, "the newest night is gone");
  return std::move(*night);
}

std::string judging_digest(const RuleSet& rules, const LoadedConfig& config) {
  Sha256 digest;
  digest.update_field(rules.digest());
  for (const auto& entry : config.entries) {
    digest.update_field(entry.key);
    digest.update_field(entry.value);
  }
  return digest.finish_hex();
}

namespace {

constexpr std::uint64_t kPlanBytesMax = 4u << 20;

}  // namespace

Result<Plan> read_plan(const std::string& named) {
  std::error_code failure;
  const fs::path file = fs::absolute(named, failure);
  GUARD_TRY_ASSIGN(const std::string text, read_file(file, kPlanBytesMax));
  return nightly::parse_plan(text, named, file.parent_path());
}

namespace {

constexpr std::int64_t kResumedAgeMs = 20 * 3'600'000;  // less than a day: the next night is a new one
constexpr std::chrono::milliseconds kOnFinishDeadline{120'000};

Result<std::string> new_night_id() {
  GUARD_TRY_ASSIGN(const std::string random, new_run_id());
  return fmt::format("{}-{}", nightly::utc_text(nightly::unix_ms(), "%Y-%m-%dT%H%M%S"), random.substr(1, 4));
}

std::string full_branch(const std::string& named, const std::string& night) {
  std::string name = replaced(named.empty() ? "guard/{night}" : named, "{night}", night);
  name = replaced(std::move(name), "{date}", night.substr(0, 10));
  return name.starts_with("refs/") ? name : "refs/heads/" + name;
}

// Everything a night leans on; made once, in this order, and kept until it is over.
struct NightWorks {
  CancelToken never;  // of git
  std::optional<NightlyPlace> place;
  std::optional<nightly::NightLock> lock;
  std::optional<Journal> journal;
  LoadedConfig config;
  RuleEngine engine;
  std::optional<SecretSource> secrets;
  Plan plan;
  std::mutex judging;
  std::string branch_tip;  // see NightContext
  nightly::NightContext context;
  std::mutex speaking;  // two threads know something to say
  std::unique_ptr<nightly::Executor> executor;
};

void warn(NightWorks& works, Streams& streams, const std::string& sentence) {
  const std::lock_guard lock(works.speaking);
  streams.err.print("guard: warning: {}\n", printable(sentence));
}

fs::path task_root(const NightWorks& works) {
  const auto& shared = works.plan.executor.shared;
  return shared.empty() ? works.place->state.path() / "tasks" : fs::path(shared);
}

Result<void> take_hold(const Options& options, CommandContext& context, NightWorks& works) {
  auto place = nightly_place(options, context, works.never);
  if (!place) return std::move(place).error();
  works.place.emplace(std::move(*place));
  GUARD_TRY(works.place->state.make());
  GUARD_TRY_ASSIGN(works.lock, nightly::NightLock::take(works.place->state, works.place->repository.common_folder()));
  GUARD_TRY_ASSIGN(works.journal, Journal::open(works.place->state.journal(), Journal::Access::write));
  return ok();
}

// Configuration and rules as they are at `base`, whatever a task makes of them.
Result<void> prepare(const Options& options, CommandContext& context, const std::string& base, NightWorks& works) {
  const fs::path top = works.place->repository.top();
  GUARD_TRY(refuse_inside_tree(options.config, "--config", top, context));
  GUARD_TRY(refuse_inside_tree(options.rules, "--rules", top, context));
  GUARD_TRY_ASSIGN(ConfigSources sources, config_at(options.config, top, base, context));
  sources.overrides = options.overrides;
  GUARD_TRY_ASSIGN(works.config, load_config(sources));
  GUARD_TRY(check_key_files(works.config.config, top));
  if (works.config.config.run.isolation == Isolation::run) {
    return Error(ErrorCode::config_invalid,
        fmt::format("run.isolation is \"run\" ({}): test files that share a process can change what another one means",
            works.config.find("run.isolation")->origin))
        .hint("remove it for nights: each test file then gets a process of its own");
  }
  GUARD_TRY_ASSIGN(works.engine, load_rule_engine(options.rules));
  // What may be asked for at all is a matter of the rules, too.
  const Validator validator(*works.engine.rules, *works.engine.matcher, validator_options(works.config.config, {}));
  for (auto& task : works.plan.tasks) {
    if (task.allow) {
      GUARD_TRY(
          check_narrower(works.config.config, *task.allow).context(fmt::format("`allow` of the task {}", task.id)));
    }
    if (!task.never_generated.empty()) continue;
    GUARD_TRY_ASSIGN(task.never_generated, nightly::never_generated(task, validator));
  }
  GUARD_TRY_ASSIGN(works.secrets, secrets_of(context.environment, works.config.config));

  auto& shared = works.context;
  shared.repository = &works.place->repository;
  shared.state = &works.place->state;
  shared.journal = &*works.journal;
  shared.config = &works.config;
  shared.rules = works.engine.rules;
  shared.matcher = &*works.engine.matcher;
  shared.secrets = &*works.secrets;
  shared.plan = &works.plan;
  shared.environment = context.environment;
  shared.base = base;
  shared.guard_version = GUARD_VERSION;
  shared.judging = &works.judging;
  shared.branch_tip = &works.branch_tip;

  auto& told = shared.for_workers;
  told.object_format = works.place->repository.object_format();
  told.generator_env = works.plan.generator_env;
  told.allow_left_processes = works.plan.allow_left_processes;
  if (sources.text) {
    told.config_name = sources.text->name;
    told.config_text = sources.text->bytes;
  } else if (!works.config.file.empty()) {
    told.config_name = works.config.file.native();
    told.config_text = works.config.file_bytes;
  }
  for (const auto& entry : works.config.entries) {
    constexpr std::string_view kEnvironment = "environment ";
    if (!entry.origin.starts_with(kEnvironment)) continue;
    const std::string name = entry.origin.substr(kEnvironment.size());
    told.environment[name] = value_of(context.environment, name);
  }
  told.rules_digest = judging_digest(*works.engine.rules, works.config);
  shared.rules_folder = options.rules;
  return ok();
}

// Which night it is; and, where others work for it, who.
Result<void> name_night(const Night& night, nightly::NightFolder folder, CommandContext& context, NightWorks& works) {
  auto& shared = works.context;
  shared.night = shared.for_workers.night = night.id;
  shared.branch = night.branch;
  const auto& plan = works.plan.executor;
  shared.task_folders = task_root(works) / night.id;
  if (plan.kind != nightly::ExecutorKind::local) GUARD_TRY(nightly::make_night_folder(shared.task_folders, folder));
  GUARD_TRY_ASSIGN(const fs::path program, own_program());
  GUARD_TRY_ASSIGN(works.executor,
      nightly::make_executor(plan,
          {night.id, shared.task_folders, program, context.environment,
              [&](const std::string& sentence) { warn(works, context.streams, sentence); },
              nightly::submitted_jobs(shared)}));
  shared.executor = works.executor.get();
  return works.lock->name(night.id);
}

// What is left of nights that are older than the configuration wants to keep.
void forget_old_nights(const NightWorks& works, Streams& streams) {
  const auto days = static_cast<std::int64_t>(works.config.config.nightly.keep_days);
  auto forgotten = works.context.journal->forget(nightly::unix_ms() - days * 86'400'000);
  if (!forgotten) {
    streams.err.print("guard: warning: old nights stay: {}\n", printable(forgotten.error().message()));
    return;
  }
  for (const auto& id : *forgotten) {
    for (const char* kind : {"evidence", "outputs", "kept", "sent"})
      (void)remove_tree(works.place->state.path() / kind / id);
    (void)remove_tree(task_root(works) / id);
  }
}

Result<nightly::ReportInput> page_input(const NightlyPlace& place, const Journal& journal, const std::string& night) {
  GUARD_TRY_ASSIGN(auto input, nightly::report_input(journal, night));
  GUARD_TRY_ASSIGN(const auto holder, nightly::NightLock::holder(place.state));
  input.night.state = nightly::observed_state(input.night, holder);
  input.state_folder = place.state.path().native();
  return input;
}

// Whoever is to be told. It changes nothing of what the night came to.
void call_on_finish(const NightWorks& works, CommandContext& context, const std::string& summary,
    const std::string& text, const fs::path& page) {
  ProcessSpec spec;
  spec.argv = works.config.config.nightly.on_finish;
  spec.cwd = works.place->repository.top().native();
  spec.env = context.environment;
  spec.env["GUARD_NIGHT"] = works.context.night;
  spec.env["GUARD_SUMMARY"] = summary;
  spec.env["GUARD_REPORT"] = page.native();
  spec.stdin_text = summary + "\n\n" + text;
  spec.deadline = Deadline::after(kOnFinishDeadline);
  CancelToken own;  // a night that was stopped is told, too
  auto ran = collect_process(spec, 64u << 10, own);
  if (!ran) {
    context.streams.err.print("guard: warning: on_finish: {}\n", printable(ran.error().message()));
  } else if (ran->result.outcome.kind != OutcomeKind::exited || ran->result.outcome.value != 0) {
    context.streams.err.print("guard: warning: on_finish did not end with 0: {}\n", printable(ran->err.substr(0, 500)));
  }
}

// The page beside the journal, whoever is to be told, and the last lines.
Result<int> conclude(
    const Options& options, CommandContext& context, NightWorks& works, const nightly::NightResult& result) {
  GUARD_TRY_ASSIGN(const auto input, page_input(*works.place, *works.journal, works.context.night));
  const auto render = [&](nightly::ReportFormat format) {
    return nightly::render_report(input, format, *works.secrets, Colour::off);
  };
  const std::string summary = nightly::summary_line(input);
  const fs::path page = works.place->state.path() / "report.html";
  GUARD_TRY_ASSIGN(const std::string html, render(nightly::ReportFormat::html));
  GUARD_TRY(write_file_atomically(page, html, 0600));
  if (!works.config.config.nightly.on_finish.empty()) {
    GUARD_TRY_ASSIGN(const std::string text, render(nightly::ReportFormat::text));
    call_on_finish(works, context, summary, text, page);
  }
  if (options.format == OutputFormat::json) {
    GUARD_TRY_ASSIGN(const std::string document, render(nightly::ReportFormat::json));
    context.streams.out.write(document);
  } else {
    context.streams.out.print("{}\n", summary);
    if (!result.night.why.empty()) context.streams.out.print("  {}\n", printable(result.night.why));
    context.streams.out.print("  branch {}, report {}\n", printable(result.night.branch), printable(page.native()));
  }
  return nightly::exit_status(result);
}

// What `work` makes of the night, with a line for each task, or one that is rewritten.
template <typename Work>
Result<int> watch(const Options& options, CommandContext& context, NightWorks& works, const Work& work) {
  Progress progress(context.streams.err,
      options.quiet || !context.streams.err_is_terminal ? Progress::Mode::quiet : Progress::Mode::rewritten);
  nightly::NightOptions night;
  night.context = &works.context;
  night.say = [&](const nightly::NightEvent& event) {
    if (options.quiet) return;
    const std::lock_guard lock(works.speaking);
    const std::string line = fmt::format(
        "[{}/{}] {}{}{}", event.decided, event.tasks, event.task, event.task.empty() ? "" : ": ", event.sentence);
    if (event.step) {
      progress.say(line);
      return;
    }
    progress.clear();
    context.streams.err.print("{} {}\n", nightly::utc_text(nightly::unix_ms(), "%H:%M:%SZ"), line);
  };
  if (!options.quiet) {
    context.streams.err.print("{} night {}: {} on branch {}\n", nightly::utc_text(nightly::unix_ms(), "%H:%M:%SZ"),
        works.context.night, plural(works.plan.tasks.size(), "task"), printable(works.context.branch));
  }
  const auto done = work(night);
  works.executor.reset();  // before anybody is told that the night is over
  if (!done) return done.error();
  const nightly::NightResult& result = *done;
  progress.clear();
  return conclude(options, context, works, result);
}

void warn_of_leftovers(const std::vector<std::string>& failed, CommandContext& context) {
  for (const auto& sentence : failed) context.streams.err.print("guard: warning: {}\n", printable(sentence));
}

Result<int> go_on(const Options& options, CommandContext& context, NightWorks& works, Night night) {
  std::vector<std::pair<std::string, std::string>> prompts;
  GUARD_TRY_ASSIGN(const auto tasks, works.journal->tasks(night.id));
  for (const auto& task : tasks) prompts.emplace_back(task.id, task.prompt);
  GUARD_TRY_ASSIGN(works.plan, nightly::parse_plan(night.plan_text, night.plan_name, prompts));
  GUARD_TRY(prepare(options, context, night.base, works));
  if (judging_digest(*works.engine.rules, works.config) != night.rules_digest) {
    return Error(
        ErrorCode::config_invalid, fmt::format("night {} began with other rules or another configuration", night.id))
        .hint(
            "give the same --config, --rules and GUARD_ variables as then, or begin a new night: guard nightly run "
            "PLAN.toml");
  }
  GUARD_TRY(name_night(night, nightly::NightFolder::may_be_there, context, works));
  warn_of_leftovers(nightly::clean_up(works.context), context);
  return watch(options, context, works,
      [&](const nightly::NightOptions& loop) { return nightly::resume_night(loop, std::move(night), context.cancel); });
}

bool is_unfinished(const Night& night, const std::vector<Task>& tasks) {
  return night.state != nightly::NightState::finished &&
      std::any_of(tasks.begin(), tasks.end(), [](const Task& task) { return !nightly::is_decided(task.state); });
}

Result<int> run_plan(const Options& options, CommandContext& context) {
  NightWorks works;
  std::error_code failure;
  const fs::path file = fs::absolute(options.arguments[0], failure);
  GUARD_TRY_ASSIGN(const std::string text, read_file(file, kPlanBytesMax));
  GUARD_TRY_ASSIGN(works.plan, nightly::parse_plan(text, options.arguments[0], file.parent_path()));
  GUARD_TRY(take_hold(options, context, works));
  if (options.go_on) {
    GUARD_TRY_ASSIGN(const auto nights, works.journal->nights(1));
    if (!nights.empty()) {
      GUARD_TRY_ASSIGN(auto last, works.journal->night(nights[0].id));
      GUARD_TRY_ASSIGN(const auto tasks, works.journal->tasks(nights[0].id));
      // One that ended by itself would only end so again; one of long ago would work on a base that nobody wants any
      // more.
      const bool was_cut = last &&
          (last->state == nightly::NightState::running ||
              (last->state == nightly::NightState::stopped && last->reason == "signal"));
      if (was_cut && last->plan_text == text && nightly::unix_ms() - last->started_ms < kResumedAgeMs &&
          is_unfinished(*last, tasks))
        return go_on(options, context, works, std::move(*last));
    }
  }
  GUARD_TRY_ASSIGN(const std::string base, works.place->repository.commit_id(works.plan.base));
  GUARD_TRY(prepare(options, context, base, works));
  if (nightly::free_bytes(works.place->state.path()) < works.config.config.nightly.min_free_bytes) {
    return Error(ErrorCode::io_error,
        fmt::format("less than {} bytes are free at {}", works.config.config.nightly.min_free_bytes,
            printable(works.place->state.path().native())))
        .hint("make room, or set nightly.min_free");
  }
  warn_of_leftovers(nightly::clean_up(works.context), context);
  forget_old_nights(works, context.streams);

  Night night;
  GUARD_TRY_ASSIGN(night.id, new_night_id());
  night.started_ms = night.heartbeat_ms = nightly::unix_ms();
  night.plan_name = file.native();
  night.plan_text = text;
  night.base = base;
  night.branch = full_branch(works.plan.branch, night.id);
  night.rules_digest = judging_digest(*works.engine.rules, works.config);
  night.guard_version = GUARD_VERSION;
  GUARD_TRY(name_night(night, nightly::NightFolder::is_new, context, works));
  GUARD_TRY_ASSIGN(const auto latest, works.journal->latest());
  std::vector<Task> tasks =
      nightly::queue_tasks(works.plan, latest, night.id, options.again ? nightly::Again::yes : nightly::Again::no);
  for (Task& task : tasks) task.rollout = nightly::rollout_of(works.config.config, task.id);
  return watch(options, context, works, [&](const nightly::NightOptions& loop) {
    return nightly::begin_night(loop, std::move(night), std::move(tasks), context.cancel);
  });
}

Result<int> resume(const Options& options, CommandContext& context) {
  NightWorks works;
  GUARD_TRY(take_hold(options, context, works));
  GUARD_TRY_ASSIGN(Night night, chosen_night(*works.journal, options.night));
  GUARD_TRY_ASSIGN(const auto tasks, works.journal->tasks(night.id));
  if (!is_unfinished(night, tasks)) {
    GUARD_TRY(nightly::settle_references(works.place->repository, *works.journal));
    context.streams.out.print("nothing to resume: every task of {} is decided\n", night.id);
    return nightly::exit_status({night, tasks});
  }
  return go_on(options, context, works, std::move(night));
}

Result<int> show_plan(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const Plan plan, read_plan(options.arguments[0]));
  if (options.format == OutputFormat::json) {
    nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
    for (const auto& task : plan.tasks) {
      tasks.push_back({{"id", task.id}, {"kind", to_string(task.kind)}, {"attempts", task.attempts},
          {"tests", task.tests}, {"project", task.project}, {"never_generated", task.never_generated}});
    }
    return write_json(
        context, {{"version", 1}, {"base", plan.base}, {"branch", plan.branch}, {"jobs", plan.jobs}, {"tasks", tasks}});
  }
  context.streams.out.print("{} tasks from {}, {} at a time, at most {} attempts\n", plan.tasks.size(),
      printable(plan.base), plan.jobs, plan.budget.attempts);
  for (const auto& task : plan.tasks) {
    context.streams.out.print("  {:<24} {:<5} {} {}\n", printable(task.id), to_string(task.kind),
        printable(task.generator.empty() ? "" : task.generator.front()),
        task.never_generated.empty() ? "" : "refused: " + printable(task.never_generated));
  }
  return 0;
}

Result<int> stop(const Options& options, CommandContext& context) {
  CancelToken never;
  GUARD_TRY_ASSIGN(const NightlyPlace place, nightly_place(options, context, never));
  GUARD_TRY_ASSIGN(const auto holder, nightly::NightLock::holder(place.state));
  if (!holder) {
    context.streams.out.write("no loop works on this repository\n");
    return 0;
  }
  GUARD_TRY_ASSIGN(Journal journal, Journal::open(place.state.journal(), Journal::Access::write));
  if (holder->night.empty()) {
    return Error(ErrorCode::input_invalid, fmt::format("process {} has not begun its night yet", holder->process))
        .hint("ask again in a second, or end that process by a signal");
  }
  GUARD_TRY(journal.request_stop(holder->night));
  context.streams.out.print(
      "process {} finishes the attempts that are under way in night {}, and ends; `guard nightly resume` goes on "
      "later\n",
      holder->process, holder->night);
  return 0;
}

struct StatusFacts {
  std::optional<nightly::NightLock::Holder> holder;
  std::optional<Night> night;
  std::vector<Task> tasks;
  std::optional<std::int64_t> last_end_ms;  // of a night that came to its end
};

Result<StatusFacts> status_facts(const Options& options, const NightlyPlace& place) {
  StatusFacts facts;
  GUARD_TRY_ASSIGN(facts.holder, nightly::NightLock::holder(place.state));
  auto journal = Journal::open(place.state.journal(), Journal::Access::read);
  if (!journal) {
    if (journal.error().code() == ErrorCode::file_not_found) return facts;
    return std::move(journal).error();
  }
  auto night = chosen_night(*journal, options.night.empty() && facts.holder ? facts.holder->night : options.night);
  if (!night) {
    if (night.error().code() == ErrorCode::file_not_found && options.night.empty()) return facts;
    return std::move(night).error();
  }
  facts.night = std::move(*night);
  facts.night->state = nightly::observed_state(*facts.night, facts.holder);
  GUARD_TRY_ASSIGN(facts.tasks, journal->tasks(facts.night->id));
  GUARD_TRY_ASSIGN(const auto nights, journal->nights(30));
  for (const auto& row : nights) {
    // A budget that was used up is an end like any other; a night that could not work is none.
    const bool came_to_an_end = row.state == nightly::NightState::finished ||
        (row.state == nightly::NightState::ended &&
            (row.reason == "time" || row.reason == "attempts" || row.reason == "failures_in_a_row"));
    if (came_to_an_end && row.ended_ms > facts.last_end_ms.value_or(0)) facts.last_end_ms = row.ended_ms;
  }
  return facts;
}

Result<int> status(const Options& options, CommandContext& context) {
  using nightly::TaskState;
  CancelToken never;
  GUARD_TRY_ASSIGN(const NightlyPlace place, nightly_place(options, context, never));
  GUARD_TRY_ASSIGN(const StatusFacts facts, status_facts(options, place));
  const std::int64_t now = nightly::unix_ms();
  const bool overdue = options.max_age_s &&
      (!facts.last_end_ms || now - *facts.last_end_ms > static_cast<std::int64_t>(*options.max_age_s) * 1000);
  const auto count = [&](TaskState state) {
    return std::count_if(facts.tasks.begin(), facts.tasks.end(), [&](const Task& task) { return task.state == state; });
  };
  OutStream& out = context.streams.out;
  if (options.format == OutputFormat::json) {
    nlohmann::ordered_json document = {{"version", 1}, {"running", facts.holder.has_value()},
        {"process", facts.holder ? nlohmann::ordered_json(facts.holder->process) : nlohmann::ordered_json()},
        {"overdue", overdue}, {"night", nullptr}};
    if (facts.night) {
      nlohmann::ordered_json counts;
      for (const TaskState state : {TaskState::waiting, TaskState::running, TaskState::accepted, TaskState::refused,
               TaskState::failed, TaskState::skipped}) {
        counts[std::string(to_string(state))] = count(state);
      }
      document["night"] = {{"id", facts.night->id}, {"state", to_string(facts.night->state)},
          {"reason", facts.night->reason}, {"why", printable(facts.night->why)},
          {"branch", printable(facts.night->branch)}, {"base", facts.night->base},
          {"started_ms", facts.night->started_ms}, {"ended_ms", facts.night->ended_ms},
          {"heartbeat_ms", facts.night->heartbeat_ms}, {"tasks", counts}};
    }
    out.write(dump(document));
    return overdue ? 1 : 0;
  }
  if (!facts.night) {
    out.write("no night has run here yet\n  next: guard nightly run PLAN.toml\n");
    return overdue ? 1 : 0;
  }
  out.print("night {}: {}{}\n", facts.night->id, to_string(facts.night->state),
      facts.holder && facts.holder->night == facts.night->id ? fmt::format(" (process {})", facts.holder->process)
                                                             : std::string());
  if (!facts.night->why.empty()) out.print("  {}\n", printable(facts.night->why));
  out.print("  {} accepted, {} refused, {} failed, {} skipped, {} running, {} waiting\n", count(TaskState::accepted),
      count(TaskState::refused), count(TaskState::failed), count(TaskState::skipped), count(TaskState::running),
      count(TaskState::waiting));
  out.print("  began {}, last step {} s ago, branch {}\n",
      nightly::utc_text(facts.night->started_ms, "%Y-%m-%d %H:%M UTC"),
      std::max<std::int64_t>(0, now - facts.night->heartbeat_ms) / 1000, printable(facts.night->branch));
  for (const auto& task : facts.tasks) {
    if (task.state == TaskState::running) out.print("  running: {}\n", printable(task.id));
  }
  if (!facts.holder && is_unfinished(*facts.night, facts.tasks)) out.write("  next: guard nightly resume\n");
  if (overdue) {
    out.print("  overdue: {}\n",
        facts.last_end_ms
            ? fmt::format("the last night that came to its end did so {} h ago", (now - *facts.last_end_ms) / 3'600'000)
            : std::string("no night ever came to its end"));
  }
  return overdue ? 1 : 0;
}

Result<int> report(const Options& options, CommandContext& context) {
  CancelToken never;
  GUARD_TRY_ASSIGN(const NightlyPlace place, nightly_place(options, context, never));
  GUARD_TRY_ASSIGN(const Journal journal, Journal::open(place.state.journal(), Journal::Access::read));
  GUARD_TRY_ASSIGN(const Night night, chosen_night(journal, options.night));
  GUARD_TRY_ASSIGN(const SecretSource secrets, secrets_of(context.environment));
  const auto format = options.format == OutputFormat::json ? nightly::ReportFormat::json
      : options.format == OutputFormat::html               ? nightly::ReportFormat::html
      : options.format == OutputFormat::markdown           ? nightly::ReportFormat::markdown
                                                           : nightly::ReportFormat::text;
  const bool colour = context.streams.out_color && options.output.empty();
  GUARD_TRY_ASSIGN(const auto input, page_input(place, journal, night.id));
  GUARD_TRY_ASSIGN(
      const std::string text, nightly::render_report(input, format, secrets, colour ? Colour::on : Colour::off));
  if (options.output.empty()) {
    context.streams.out.write(text);
  } else {
    GUARD_TRY(write_file_atomically(options.output, text, 0600));
  }
  return 0;
}

}  // namespace

Result<int> cmd_nightly(const Options& options, CommandContext& context) {
  switch (options.action) {
    case Action::run: return run_plan(options, context);
    case Action::resume: return resume(options, context);
    case Action::plan: return show_plan(options, context);
    case Action::status: return status(options, context);
    case Action::stop: return stop(options, context);
    case Action::report: return report(options, context);
    case Action::add: return nightly_add(options, context);
    case Action::install: return nightly_install(options, context);
    case Action::uninstall: return nightly_uninstall(options, context);
    case Action::size: return nightly_size(options, context);
    case Action::export_: return nightly_export(options, context);
    case Action::work: return nightly_work(options, context);
    case Action::supervise: return nightly::supervise(options.arguments, context.cancel);
    default: return nightly_review(options, context);  // list, review, take, drop, send-back, retry
  }
}

}  // namespace guard
