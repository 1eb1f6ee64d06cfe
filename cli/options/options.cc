#include "cli/options/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/options/generate.h"
#include "cli/options/option_parser.h"
#include "cli/options/verbs.h"
#include "common/text/text.h"
#include "pipeline/config/config_texts.h"
#include "pipeline/config/config_values.h"

namespace guard {
namespace {

constexpr int kUsageStatus = 64;

Error mistake(std::string sentence, std::string hint) {
  return Error(ErrorCode::usage, std::move(sentence)).hint(std::move(hint));
}

// ---- what several verbs share ----

OutputFormat format_of(const SplitArguments& split) {
  const auto name = split.value("--format");
  if (name == "json") return OutputFormat::json;
  if (name == "sarif") return OutputFormat::sarif;
  if (name == "junit") return OutputFormat::junit;
  if (name == "github") return OutputFormat::github;
  return OutputFormat::text;
}

ColorChoice color_of(const SplitArguments& split) {
  const auto name = split.value("--color", "auto");
  return name == "always" ? ColorChoice::always : name == "never" ? ColorChoice::never : ColorChoice::automatic;
}

Result<void> no_arguments(const SplitArguments& split, std::string_view verb) {
  if (split.positional.empty()) return ok();
  return mistake(fmt::format("guard {} takes no argument \"{}\"", verb, shown_value(split.positional[0])),
      fmt::format("see `guard help {}`", verb));
}

// An empty name is a variable that was not set in somebody's script.
Result<void> no_empty_names(const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), "") == names.end()) return ok();
  return mistake("an argument is empty", "look for a variable that is not set in the command");
}

Result<void> one_of(const SplitArguments& split, std::span<const std::string_view> names) {
  std::string_view seen;
  for (const auto name : names) {
    if (!split.has(name)) continue;
    if (!seen.empty()) return mistake(fmt::format("{} and {} exclude each other", seen, name), "choose one of them");
    seen = name;
  }
  return ok();
}

// The action of `guard image build` and its like; it is taken out of the arguments.
template <typename Action>
Result<Action> take_action(
    SplitArguments& split, std::string_view verb, std::initializer_list<std::pair<std::string_view, Action>> actions) {
  std::vector<std::string_view> names;
  for (const auto& action : actions) names.push_back(action.first);
  const std::string hint = fmt::format("guard {} {}", verb, fmt::join(names, fmt::format(", guard {} ", verb)));
  if (split.positional.empty()) return mistake(fmt::format("guard {} needs to know what to do", verb), hint);
  for (const auto& [name, action] : actions) {
    if (split.positional[0] != name) continue;
    split.positional.erase(split.positional.begin());
    return action;
  }
  const auto near = nearest_word(split.positional[0], names);
  return mistake(fmt::format("guard {} has no \"{}\"", verb, shown_value(split.positional[0])),
      near.empty() ? hint : fmt::format("did you mean `guard {} {}`?", verb, near));
}

// Options that stand for keys of the configuration.
Result<std::vector<ConfigOverride>> overrides_of(const SplitArguments& split, std::span<const OptionRow> rows) {
  std::vector<ConfigOverride> overrides;
  for (const auto& row : rows) {
    const auto given = split.options.find(row.name);
    if (given == split.options.end() || row.config_keys.empty()) continue;
    for (std::string_view keys = row.config_keys; !keys.empty();) {
      const std::size_t end = std::min(keys.find(' '), keys.size());
      for (const auto& value : given->second)
        overrides.push_back({std::string(keys.substr(0, end)), value, std::string(row.name)});
      keys.remove_prefix(std::min(end + 1, keys.size()));
    }
  }
  if (const auto variables = split.options.find("--env"); variables != split.options.end()) {
    for (const auto& text : variables->second) {
      const std::size_t equals = text.find('=');
      const std::string name = text.substr(0, equals);
      std::optional<std::string> value;
      if (equals != std::string::npos) value = text.substr(equals + 1);
      Config scratch;
      if (const auto complaint = set_variable(name, value, scratch)) {
        return mistake(fmt::format("--env: {}", complaint->sentence),
            "write --env NAME=VALUE, or --env NAME to pass guard's own on");
      }
      overrides.push_back({"run.env." + name, std::move(value), "--env"});
    }
  }
  return overrides;
}

// ---- the verbs ----

// "sandbox/a.test.ts:12", or a file alone.
Result<void> set_explained(std::string place, CheckOptions& options) {
  const std::size_t colon = place.rfind(':');
  const std::string_view digits =
      colon == std::string::npos ? std::string_view() : std::string_view(place).substr(colon + 1);
  if (!digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), options.explain_line);
    if (fault != std::errc() || options.explain_line == 0) {
      return mistake(fmt::format("--explain: there is no line {}", shown_value(digits)), "lines are counted from 1");
    }
    place.resize(colon);
  }
  if (place.empty()) return mistake("--explain needs a file", "guard check --explain sandbox/a.test.ts:12");
  options.explain = std::move(place);
  return ok();
}

constexpr const char* kJobsMistake = "--jobs takes a number from 1 to 256";

// 0 where it is no such number.
unsigned jobs_of(const SplitArguments& split) {
  const std::string jobs = split.value("--jobs");
  const bool digits = !jobs.empty() && jobs.size() <= 3 && jobs.find_first_not_of("0123456789") == std::string::npos;
  const auto number = digits ? static_cast<unsigned>(std::stoul(jobs)) : 0u;
  return number <= 256 ? number : 0;
}

Result<ParsedCommand> parse_check(SplitArguments split) {
  CheckOptions options;
  // Behind `--` even a lone dash is a file's name.
  const auto dashes =
      std::find(split.positional.begin(), split.positional.begin() + static_cast<std::ptrdiff_t>(split.dash_dash), "-");
  options.read_stdin = dashes != split.positional.begin() + static_cast<std::ptrdiff_t>(split.dash_dash);
  if (options.read_stdin && split.positional.size() > 1) {
    return mistake("`-` stands for all that is judged, so no other PATH can go with it",
        "call guard once for each, or name a file `./-`");
  }
  options.staged = split.has("--staged");
  if (options.staged && !split.positional.empty()) {
    return mistake("--staged judges what git is about to commit, so no PATH can go with it", "leave out one of them");
  }
  if (split.has("--stdin-name") && !options.read_stdin) {
    return mistake("--stdin-name names standard input, which is not read", "add `-` to read it");
  }
  GUARD_TRY(no_empty_names(split.positional));
  if (!options.read_stdin) options.paths = std::move(split.positional);
  options.mode = split.value("--mode", options.mode);
  options.format = format_of(split);
  options.stdin_name = split.value("--stdin-name", options.stdin_name);
  options.allow_empty = split.has("--allow-empty");
  if (split.has("--jobs")) {
    options.jobs = jobs_of(split);
    if (options.jobs == 0) return mistake(kJobsMistake, "leave it out: all processors are used then");
  }
  options.no_ignore = split.has("--no-ignore");
  options.print_waiver = split.has("--print-waiver");
  options.no_baseline = split.has("--no-baseline");
  options.write_baseline = split.has("--write-baseline");
  if (options.write_baseline) {
    constexpr std::string_view kOthers[] = {
        "--write-baseline", "--no-baseline", "--staged", "--print-waiver", "--explain"};
    GUARD_TRY(one_of(split, kOthers));
    if (options.read_stdin)
      return mistake("--write-baseline is for files of the project, not standard input", "name a file or folder");
    if (options.mode != "auto") return mistake("--write-baseline applies all tiers", "leave out --mode");
  }
  if (options.print_waiver && options.format != OutputFormat::text) {
    return mistake("--print-waiver prints TOML, whatever the format", "leave out --format");
  }
  if (split.has("--explain")) {
    GUARD_TRY(set_explained(split.value("--explain"), options));
    constexpr std::string_view kOthers[] = {"--explain", "--staged", "--print-waiver"};
    GUARD_TRY(one_of(split, kOthers));
    if (options.read_stdin)
      return mistake("--explain explains a file, not standard input", "save it under a name first");
    if (options.format != OutputFormat::text && options.format != OutputFormat::json) {
      return mistake("--explain is text or json", "leave out --format");
    }
  }
  options.color = color_of(split);
  options.config = split.value("--config");
  options.rules = split.value("--rules");
  return ParsedCommand(std::move(options));
}

Result<ParsedCommand> parse_gate(const SplitArguments& split) {
  GUARD_TRY(no_arguments(split, "gate"));
  constexpr std::string_view kSources[] = {"--head", "--staged", "--patch"};
  GUARD_TRY(one_of(split, kSources));
  // Empty would be HEAD, or the work tree: something else than was meant.
  for (const std::string_view name : {"--base", "--head", "--patch"}) {
    if (split.has(name) && split.value(name).empty()) {
      return mistake(fmt::format("{} is empty", name), "look for a variable that is not set in the command");
    }
  }
  if (split.has("--head") && !split.has("--base")) {
    return mistake("--head needs --base: what is it to be compared with?", "guard gate --base origin/main --head HEAD");
  }
  GateOptions options;
  options.base = split.value("--base");
  options.head = split.value("--head");
  options.staged = split.has("--staged");
  options.patch = split.value("--patch");
  options.kind = split.value("--task-kind", "test") == "any" ? TaskKind::any : TaskKind::test;
  options.mode = split.value("--mode", options.mode);
  options.format = format_of(split);
  options.allow_empty = split.has("--allow-empty");
  options.color = color_of(split);
  options.config = split.value("--config");
  options.rules = split.value("--rules");
  return ParsedCommand(std::move(options));
}

Result<ParsedCommand> parse_audit(const SplitArguments& split) {
  GUARD_TRY(no_arguments(split, "audit"));
  if (split.has("--since") && split.value("--since").empty()) {
    return mistake("--since is empty", "look for a variable that is not set in the command");
  }
  AuditOptions options;
  options.since = split.value("--since");
  if (split.has("--task-kind")) options.kind = split.value("--task-kind") == "any" ? TaskKind::any : TaskKind::test;
  options.run = split.has("--run");
  options.mode = split.value("--mode", options.mode);
  options.format = format_of(split);
  options.color = color_of(split);
  options.config = split.value("--config");
  options.rules = split.value("--rules");
  return ParsedCommand(std::move(options));
}

Result<SandboxOptions> sandbox_options(const SplitArguments& split, const VerbRow& row) {
  SandboxOptions options;
  options.backend = named<Backend>(split.value("--backend"));  // "auto": none of them
  options.format = format_of(split);
  options.project = split.value("--project");
  options.config = split.value("--config");
  options.rules = split.value("--rules");
  options.color = color_of(split);
  options.quiet = split.has("--quiet");
  options.record = split.value("--record");
  GUARD_TRY_ASSIGN(options.overrides, overrides_of(split, row.options));
  return options;
}

Result<ParsedCommand> parse_run(SplitArguments split, const VerbRow& row) {
  RunOptions options;
  GUARD_TRY_ASSIGN(options.sandbox, sandbox_options(split, row));
  GUARD_TRY(no_empty_names(split.positional));
  options.files = std::move(split.positional);
  if (split.has("--jobs")) {
    options.jobs = jobs_of(split);
    if (options.jobs == 0) return mistake(kJobsMistake, "leave it out: all files then run in one sandbox");
  }
  options.test_name = split.value("--test-name");
  if (!options.test_name.empty() && !options.sandbox.record.empty()) {
    return mistake("--test-name runs a part of the tests, which is no evidence for --record", "leave out one of them");
  }
  options.lcov = split.value("--lcov");
  options.coverage = split.has("--coverage") || !options.lcov.empty();
  options.watch = split.has("--watch");
  if (options.watch && (options.sandbox.format != OutputFormat::text || !options.sandbox.record.empty())) {
    return mistake("--watch is for a person at a terminal", "leave out --format and --record, or --watch");
  }
  return ParsedCommand(std::move(options));
}

Result<ParsedCommand> parse_exec(SplitArguments split, const VerbRow& row) {
  ExecOptions options;
  GUARD_TRY_ASSIGN(options.sandbox, sandbox_options(split, row));
  if (options.sandbox.format != OutputFormat::text && options.sandbox.format != OutputFormat::json) {
    return mistake("guard exec checks nothing, so there are no findings to report", "use --format text or json");
  }
  if (split.positional.empty()) return mistake("guard exec needs a command", "guard exec -- COMMAND ARGUMENT...");
  // Arguments of the command may be empty, its name may not.
  if (split.positional[0].empty())
    return mistake("the command is empty", "look for a variable that is not set in the command");
  options.argv = std::move(split.positional);
  return ParsedCommand(std::move(options));
}

Result<ParsedCommand> parse_image(SplitArguments split) {
  ImageOptions options;
  GUARD_TRY_ASSIGN(options.action,
      take_action<ImageAction>(
          split, "image", {{"build", ImageAction::build}, {"list", ImageAction::list}, {"prune", ImageAction::prune}}));
  GUARD_TRY(no_arguments(split, "image"));
  constexpr std::string_view kTargets[] = {"--engine", "--root-folder", "--all"};
  GUARD_TRY(one_of(split, kTargets));
  options.target = split.has("--engine") ? ImageTarget::engine
      : split.has("--root-folder")       ? ImageTarget::root_folder
      : split.has("--all")               ? ImageTarget::all
                                         : ImageTarget::automatic;
  for (const char* name : {"--dry-run", "--force"}) {
    if (split.has(name) && options.action != ImageAction::prune)
      return mistake(fmt::format("{} belongs to `guard image prune`", name), "leave it out");
  }
  if (split.has("--force") && options.target != ImageTarget::all)
    return mistake(
        "--force belongs to `guard image prune --all`", "leave it out: what is this project's goes without it");
  options.dry_run = split.has("--dry-run");
  options.force = split.has("--force");
  options.project = split.value("--project");
  options.config = split.value("--config");
  options.format = format_of(split);
  return ParsedCommand(std::move(options));
}

Result<ParsedCommand> parse_rules(SplitArguments split) {
  RulesOptions options;
  GUARD_TRY_ASSIGN(options.action,
      take_action<RulesAction>(split, "rules",
          {{"list", RulesAction::list}, {"show", RulesAction::show}, {"check", RulesAction::check},
              {"views", RulesAction::views}, {"doc", RulesAction::doc}, {"diff", RulesAction::diff}}));
  GUARD_TRY(no_empty_names(split.positional));
  if (options.action == RulesAction::show && split.positional.empty()) {
    return mistake("guard rules show needs the id of a rule", "`guard rules list` has all ids");
  }
  if (options.action == RulesAction::views && split.positional.empty()) {
    return mistake("guard rules views needs a file to read", "guard rules views sandbox/sum.test.ts");
  }
  if (options.action == RulesAction::diff) {
    if (split.positional.size() < 2) {
      return mistake(
          "guard rules diff needs the old and the new rules", "guard rules diff ../guard-1.0/rules built-in");
    }
    options.old_rules = split.positional[0];
    options.new_rules = split.positional[1];
    options.paths.assign(split.positional.begin() + 2, split.positional.end());
    split.positional.clear();
  } else if (options.action != RulesAction::list && options.action != RulesAction::doc && !split.positional.empty()) {
    (options.action == RulesAction::show           ? options.id
            : options.action == RulesAction::views ? options.file
                                                   : options.folder) = split.positional[0];
    split.positional.erase(split.positional.begin());
  }
  GUARD_TRY(no_arguments(split, "rules"));
  options.format = format_of(split);
  options.color = color_of(split);
  return ParsedCommand(std::move(options));
}

Result<ParsedCommand> parse_config(SplitArguments split) {
  enum class Action : std::uint8_t { show };
  GUARD_TRY(take_action<Action>(split, "config", {{"show", Action::show}}));
  GUARD_TRY(no_arguments(split, "config"));
  return ParsedCommand(ConfigOptions{
      .format = format_of(split), .project = split.value("--project"), .config = split.value("--config")});
}

Result<ParsedCommand> parse_redact(SplitArguments split, const VerbRow& row) {
  RedactOptions options;
  GUARD_TRY(no_empty_names(split.positional));
  options.files = std::move(split.positional);
  if (split.has("--cap")) {
    std::uint64_t bytes = 0;
    if (!parse_bytes(split.value("--cap"), bytes))
      return mistake("--cap takes a number of bytes, or one with k, m or g", "0 is no cap");
    options.cap_bytes = bytes;
  }
  options.keep_both = split.value("--keep") == "both";
  options.format = format_of(split);
  options.stats = split.has("--stats") || options.format == OutputFormat::json;
  options.config = split.value("--config");
  GUARD_TRY_ASSIGN(options.overrides, overrides_of(split, row.options));
  return ParsedCommand(std::move(options));
}

Result<ParsedCommand> parse_hook(SplitArguments split) {
  HookOptions options;
  GUARD_TRY_ASSIGN(options.action,
      take_action<HookAction>(split, "hook",
          {{"install", HookAction::install}, {"uninstall", HookAction::uninstall}, {"status", HookAction::status},
              {"agent", HookAction::agent}}));
  GUARD_TRY(no_arguments(split, "hook"));
  const bool agent = options.action == HookAction::agent;
  for (const char* name : {"--mode", "--config", "--rules"}) {
    if (!agent && split.has(name))
      return mistake(fmt::format("{} belongs to `guard hook agent`", name), "leave it out");
  }
  if (!agent && split.has("--install"))
    return mistake("--install belongs to `guard hook agent`", "guard hook install, for commits");
  if (split.has("--yes") && !split.has("--install"))
    return mistake("--yes belongs to `guard hook agent --install`", "leave it out");
  if (split.has("--install") && split.has("--mode")) return mistake("--mode is for answering an event", "leave it out");
  options.install = split.value("--install");
  options.yes = split.has("--yes");
  // Its answer has the form that the asking program wants.
  if (agent && split.has("--format"))
    return mistake("`guard hook agent` answers in its caller's form", "leave --format out");
  options.project = split.value("--project");
  options.mode = split.value("--mode", options.mode);
  options.config = split.value("--config");
  options.rules = split.value("--rules");
  options.format = format_of(split);
  return ParsedCommand(std::move(options));
}

Result<ParsedCommand> parse_verify(SplitArguments split) {
  VerifyOptions options;
  if (split.positional.empty())
    return mistake("guard verify needs the record to check", "guard verify record.json --project DIR");
  GUARD_TRY(no_empty_names(split.positional));
  if (split.positional.size() > 1)
    return mistake("guard verify checks one record at a time", "call guard once for each");
  options.record = std::move(split.positional[0]);
  options.project = split.value("--project");
  options.config = split.value("--config");
  options.rules = split.value("--rules");
  options.format = format_of(split);
  return ParsedCommand(std::move(options));
}

// "26h", "90m", "2d", "30s" -> seconds.
Result<std::uint64_t> parse_span(std::string_view text) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
  const std::uint64_t scale = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3'600 : unit == "d" ? 86'400 : 0;
  if (parsed.ec != std::errc() || scale == 0 || value > 100 * 365 * 86'400ull / scale) {
    return mistake(fmt::format("{} is no span of time", shown_value(text)), "write a number and s, m, h or d: 26h");
  }
  return value * scale;
}

bool is_time_of_day(std::string_view text) {
  const auto digit = [&](std::size_t at, char top) { return text[at] >= '0' && text[at] <= top; };
  return text.size() == 5 && text[2] == ':' && digit(0, '2') && digit(1, text[0] == '2' ? '3' : '9') && digit(3, '5') &&
      digit(4, '9');
}

Result<ParsedCommand> parse_nightly(SplitArguments split) {
  using enum NightlyAction;
  NightlyOptions options;
  GUARD_TRY_ASSIGN(options.action,
      take_action<NightlyAction>(split, "nightly",
          {{"run", run}, {"resume", resume}, {"status", status}, {"stop", stop}, {"report", report}, {"list", list},
              {"review", review}, {"retry", send_back}, {"drop", drop}, {"plan", plan}, {"add", add},
              {"install", install}, {"uninstall", uninstall}, {"supervise", supervise}}));
  if (options.action == supervise) {
    if (split.positional.empty())
      return mistake("guard nightly supervise is what guard starts itself for", "guard nightly run PLAN.toml");
    options.argv = std::move(split.positional);
    return ParsedCommand(std::move(options));
  }
  GUARD_TRY(no_empty_names(split.positional));
  if (options.action == run || options.action == plan || options.action == install) {
    if (split.positional.empty())
      return mistake(
          "guard nightly needs the plan of the night", "guard nightly run nightly.toml; docs/nightly.md shows one");
    if (split.positional.size() > 1) return mistake("a night has one plan", "put all tasks into one file");
    options.plan = std::move(split.positional[0]);
  } else if (options.action == add) {
    if (split.positional.empty())
      return mistake("guard nightly add needs the task, in words",
          "guard nightly add \"test that parse() refuses an empty text\"");
    options.tasks = std::move(split.positional);
  } else if (options.action == send_back || options.action == drop) {
    if (split.positional.empty()) return mistake("there are no ids of tasks", "`guard nightly list` shows them");
    options.tasks = std::move(split.positional);
  } else if (options.action == review && !split.positional.empty()) {
    const std::string what = split.positional[0];
    options.action = what == "take" ? take : what == "drop" ? drop : what == "send-back" ? send_back : review;
    if (options.action == review)
      return mistake(fmt::format("guard nightly review has no \"{}\"", shown_value(what)),
          "take, drop or send-back, and the ids of tasks");
    options.tasks.assign(split.positional.begin() + 1, split.positional.end());
    if (options.tasks.empty())
      return mistake(
          fmt::format("guard nightly review {} needs the ids of tasks", what), "`guard nightly review` lists them");
  } else {
    GUARD_TRY(no_arguments(split, "nightly"));
  }
  const auto belongs = [&](const char* name, std::initializer_list<NightlyAction> actions,
                           const char* where) -> Result<void> {
    if (!split.has(name) || std::find(actions.begin(), actions.end(), options.action) != actions.end()) return ok();
    return mistake(fmt::format("{} belongs to `guard nightly {}`", name, where), "leave it out");
  };
  GUARD_TRY(belongs("--resume", {run, install}, "run"));
  GUARD_TRY(belongs("--again", {run}, "run"));
  GUARD_TRY(belongs("--max-age", {status}, "status"));
  GUARD_TRY(belongs("--note", {send_back}, "retry"));
  GUARD_TRY(belongs("--output", {report}, "report"));
  GUARD_TRY(belongs("--at", {install}, "install"));
  GUARD_TRY(belongs("--user", {install, uninstall}, "install"));
  for (const char* name : {"--plan", "--id", "--after", "--task-kind"}) GUARD_TRY(belongs(name, {add}, "add"));
  GUARD_TRY(belongs("--night", {resume, status, report, review, take, drop, send_back, stop}, "resume"));
  if (split.has("--max-age")) {
    GUARD_TRY_ASSIGN(options.max_age_s, parse_span(split.value("--max-age")));
  }
  options.at = split.value("--at", options.at);
  if (!is_time_of_day(options.at))
    return mistake(fmt::format("--at {} is no time of day", shown_value(options.at)), "write --at 02:00");
  const auto format = split.value("--format", "text");
  options.format = format == "json" ? NightlyFormat::json
      : format == "md"              ? NightlyFormat::markdown
      : format == "html"            ? NightlyFormat::html
                                    : NightlyFormat::text;
  if ((format == "md" || format == "html") && options.action != report)
    return mistake(fmt::format("--format {} belongs to `guard nightly report`", format), "text or json");
  if (options.action == add) {
    options.plan = split.value("--plan", "nightly.toml");
    options.id = split.value("--id");
    options.kind = split.value("--task-kind", "test") == "any" ? TaskKind::any : TaskKind::test;
    if (const auto ids = split.options.find("--after"); ids != split.options.end()) options.after = ids->second;
  }
  options.go_on = split.has("--resume");
  options.again = split.has("--again");
  options.user = split.has("--user");
  options.quiet = split.has("--quiet");
  options.project = split.value("--project");
  options.state = split.value("--state");
  options.night = split.value("--night");
  options.note = split.value("--note");
  options.output = split.value("--output");
  options.config = split.value("--config");
  options.rules = split.value("--rules");
  options.color = color_of(split);
  return ParsedCommand(std::move(options));
}

Result<ParsedCommand> parse_generate(SplitArguments split) {
  using Text = std::string (*)();
  GUARD_TRY_ASSIGN(const Text text,
      take_action<Text>(split, "generate",
          {{"man", man_page}, {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}}));
  GUARD_TRY(no_arguments(split, "generate"));
  return ParsedCommand(Answer{.out = text()});
}

Result<ParsedCommand> parse_verb(const VerbRow& row, std::span<const std::string_view> arguments) {
  GUARD_TRY_ASSIGN(SplitArguments split, split_arguments(arguments, row.options, row.placement));
  switch (row.verb) {
    case Verb::check: return parse_check(std::move(split));
    case Verb::gate: return parse_gate(split);
    case Verb::run: return parse_run(std::move(split), row);
    case Verb::exec: return parse_exec(std::move(split), row);
    case Verb::image: return parse_image(std::move(split));
    case Verb::rules: return parse_rules(std::move(split));
    case Verb::config: return parse_config(std::move(split));
    case Verb::redact: return parse_redact(std::move(split), row);
    case Verb::doctor:
      GUARD_TRY(no_arguments(split, row.name));
      return ParsedCommand(DoctorOptions{.format = format_of(split),
          .project = split.value("--project"),
          .config = split.value("--config"),
          .color = color_of(split)});
    case Verb::init:
      GUARD_TRY(no_arguments(split, row.name));
      return ParsedCommand(InitOptions{.project = split.value("--project"), .force = split.has("--force")});
    case Verb::brief:
      GUARD_TRY(no_arguments(split, row.name));
      return ParsedCommand(BriefOptions{.format = format_of(split),
          .project = split.value("--project"),
          .config = split.value("--config"),
          .rules = split.value("--rules")});
    case Verb::hook: return parse_hook(std::move(split));
    case Verb::verify: return parse_verify(std::move(split));
    case Verb::nightly: return parse_nightly(std::move(split));
    case Verb::clean:
      GUARD_TRY(no_arguments(split, row.name));
      return ParsedCommand(CleanOptions{
          .format = format_of(split), .project = split.value("--project"), .dry_run = split.has("--dry-run")});
    case Verb::audit: return parse_audit(split);
    case Verb::generate: return parse_generate(std::move(split));
  }
  return Error(ErrorCode::internal, "a verb without a parser");
}

// ---- answers ----

Answer usage_answer(const Error& error) {
  return {
      .err = fmt::format("error: USAGE: {}\n  hint: {}\n", error.message(), error.hint()), .exit_status = kUsageStatus};
}

Answer unknown_verb(std::string_view name) {
  std::vector<std::string_view> names = {"help"};
  for (const auto& row : verbs()) names.push_back(row.name);
  const auto near = nearest_word(name, names);
  if (name.starts_with("-"))
    return usage_answer(mistake(
        fmt::format("unknown option {}", shown_value(name)), "options go behind the verb: guard check --staged"));
  return usage_answer(mistake(fmt::format("unknown verb \"{}\"", shown_value(name)),
      near.empty() ? "`guard help` lists all verbs" : fmt::format("did you mean `guard {}`?", near)));
}

bool is_help(std::string_view argument) { return argument == "--help" || argument == "-h"; }

}  // namespace

ParsedCommand parse_command_line(std::span<const std::string_view> arguments) {
  if (arguments.empty()) return Answer{.err = short_help_text(), .exit_status = kUsageStatus};
  const std::string_view first = arguments[0];
  if (first == "--version" || first == "-V") return Answer{.out = "guard " GUARD_VERSION "\n"};
  if (is_help(first)) return Answer{.out = help_text()};
  if (first == "help") {
    if (arguments.size() == 1) return Answer{.out = help_text()};
    const auto* row = find_verb(arguments[1]);
    return row == nullptr ? unknown_verb(arguments[1]) : Answer{.out = help_text(*row)};
  }
  const auto* row = find_verb(first);
  if (row == nullptr) return unknown_verb(first);
  const auto rest = arguments.subspan(1);
  // Whoever asks for help gets it, whatever else is wrong with the line.
  const auto dashes = std::find(rest.begin(), rest.end(), "--");
  if (std::any_of(rest.begin(), dashes, is_help)) return Answer{.out = help_text(*row)};
  auto parsed = parse_verb(*row, rest);
  if (!parsed) return usage_answer(parsed.error());
  return std::move(*parsed);
}

ParsedCommand parse_command_line(int argc, const char* const* argv) {
  std::vector<std::string_view> arguments;
  for (int i = 1; i < argc; ++i) arguments.emplace_back(argv[i]);
  return parse_command_line(arguments);
}

}  // namespace guard
