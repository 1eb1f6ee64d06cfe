#include "cli/options/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/commands/hook_agent.h"
#include "cli/mcp/client_settings.h"
#include "cli/options/option_checks.h"
#include "common/text/text.h"

namespace guard {
namespace {

// ---- options ----

using Names = std::span<const std::string_view>;
constexpr Names kFormats = Names(kNamesOf<OutputFormat>).first(2);
constexpr Names kReportFormats = Names(kNamesOf<OutputFormat>).first(5);
constexpr std::string_view kNightlyFormats[] = {"text", "json", "md", "html"};
constexpr std::string_view kBriefFormats[] = {"markdown", "json"};
constexpr std::string_view kModes[] = {"auto", "docker", "host", "namespace"};
constexpr auto kBackendNames = [] {
  std::array<std::string_view, kBackends.size() + 1> names = {"auto"};
  std::ranges::copy(kNamesOf<Backend>, names.begin() + 1);
  return names;
}();
constexpr auto kNetworks = [] {
  std::array<std::string_view, kNamesOf<NetworkMode>.size() + 1> names = {kRecordNetwork};
  std::ranges::copy(kNamesOf<NetworkMode>, names.begin() + 1);
  return names;
}();
constexpr OptionReader kReadFormat = read_choice<&Options::format>;
constexpr OptionReader kReadKind = read_choice<&Options::kind>;

constexpr OptionRow only(std::string_view actions, OptionRow row) {
  row.only = actions;
  return row;
}
constexpr OptionRow excludes(std::string_view options, OptionRow row) {
  row.excludes = options;
  return row;
}
constexpr OptionRow sets(std::string_view key, OptionRow row) {
  row.key = key;
  return row;
}
constexpr OptionRow repeated(OptionRow row) {
  row.repeats = true;
  return row;
}
constexpr OptionRow brief(std::string_view short_name, OptionRow row) {
  row.short_name = short_name;
  return row;
}

constexpr OptionRow kFormat = {
    "--format", "FORMAT", "text for people, or json: one document on standard output", kReadFormat, kFormats};
constexpr OptionRow kReportFormat = {"--format", "FORMAT",
    "text, json, sarif (code scanning), junit (CI servers) or github (annotations of its Actions)", kReadFormat,
    kReportFormats};
constexpr OptionRow kColor = {"--color", "WHEN", "auto (on a terminal, unless NO_COLOR is set), always or never",
    read_choice<&Options::color>, kNamesOf<ColorChoice>};
constexpr OptionRow kConfig = {"--config", "FILE", "use this guard.toml instead of the project's", &Options::config};
constexpr OptionRow kRules = {
    "--rules", "DIR", "use the rules in this folder instead of the built-in ones", &Options::rules};
constexpr OptionRow kProject = {
    "--project", "DIR", "the project's folder (default: the current one)", &Options::project};
constexpr OptionRow kMaskEnv =
    sets("redact.mask_env", repeated({"--mask-env", "NAME,..", "also mask the values of these variables"}));

constexpr OptionRow kCheckOptions[] = {
    {"--staged", {}, "check what `git commit` would commit: files in [check] paths, and all added lines for secrets",
        &Options::staged},
    {"--mode", "MODE", "which tiers apply: auto (host findings ask the engine), docker, host or namespace",
        &Options::mode, kModes},
    {"--stdin-name", "NAME", "the file name for standard input (default stdin.ts)", &Options::stdin_name},
    {"--allow-empty", {}, "pass if there are no files", &Options::allow_empty},
    {"--jobs", "N", "number of threads (default: one per processor)", read_jobs},
    {"--no-ignore", {}, "also check files that git ignores (gated and named files always are)", &Options::no_ignore},
    excludes("--staged --print-waiver",
        {"--explain", "PATH[:LINE]",
            "show how guard reads this line, and why a rule did or did not match; PATHs are checked with it",
            read_explain}),
    {"--print-waiver", {}, "print waivers for the findings that allow one, to paste into guard.toml",
        &Options::print_waiver},
    excludes("--no-baseline --staged --print-waiver --explain",
        {"--write-baseline", {},
            "record today's findings outside [check] paths in guard-baseline.json; an existing one only shrinks",
            &Options::write_baseline}),
    {"--no-baseline", {}, "report the findings in guard-baseline.json, too", &Options::no_baseline},
    kReportFormat,
    kColor,
    kConfig,
    kRules,
};

constexpr OptionRow kGateOptions[] = {
    {"--base", "REV", "compare with this revision, and use its guard.toml (default HEAD)", &Options::base},
    excludes("--staged --patch", {"--head", "REV", "check this commit; needs --base", &Options::head}),
    excludes("--patch", {"--staged", {}, "check the index: what `git commit` would commit", &Options::staged}),
    {"--patch", "FILE", "check the base with this patch applied; - reads standard input", &Options::patch},
    {"--task-kind", "KIND",
        "test (default): lockfiles, manifests, build and hidden files may not change; any: other tasks", kReadKind,
        kNamesOf<TaskKind>},
    {"--mode", "MODE", "the place that the rules are chosen for: auto, docker, host or namespace", &Options::mode,
        kModes},
    {"--allow-empty", {}, "pass if nothing changed", &Options::allow_empty},
    kReportFormat,
    kColor,
    kConfig,
    kRules,
};

constexpr OptionRow kAuditOptions[] = {
    {"--since", "REV", "replay the commits after this one (default: the newest 100)", &Options::since},
    {"--task-kind", "KIND", "apply [policy] as well, as `guard gate` does for these tasks", kReadKind,
        kNamesOf<TaskKind>},
    {"--run", {}, "also run the tests that each commit adds or changes, in a sandbox", &Options::run_tests},
    {"--mode", "MODE", "the place that the rules are chosen for", &Options::mode, kModes},
    kFormat,
    kColor,
    kConfig,
    kRules,
};

constexpr OptionRow kOnlyRunOptions[] = {
    {"--jobs", "N", "one sandbox per file, N at a time, sharing the limits (default: one sandbox for all)", read_jobs},
    brief("-t",
        {"--test-name", "PATTERN", "run only tests whose name, with its groups, matches this regular expression",
            &Options::test_name}),
    {"--coverage", {}, "run once more, and report which lines ran; not part of the verdict", &Options::coverage},
    {"--lcov", "FILE", "write the coverage to FILE in lcov's format; implies --coverage", &Options::lcov},
    {"--watch", {}, "run again whenever a file changes", &Options::watch},
    sets("run.file_timeout", {"--file-timeout", "TIME", "time limit of each test file; the other files still run"}),
    sets("run.collect",
        {"--collect", "MODE", "which files written by passing tests to keep: none, listed (collect_paths) or all", {},
            kNamesOf<CollectPolicy>}),
};

constexpr OptionRow kOnlyExecOptions[] = {
    excludes("--stdin --out --err --exit-code --format --record",
        {"--tty", {}, "run it on this terminal, for a person; what it prints is not masked", &Options::tty}),
    {"--cwd", "DIR", "start the command in this folder of the project", &Options::cwd},
    {"--stdin", "FILE", "let the command read FILE, or guard's own standard input where FILE is -", &Options::input},
    repeated({"--write", "DIR",
        "let the command write to this folder of the project for real; what it writes is not checked",
        &Options::writes}),
    {"--out", "FILE", "write standard output to FILE, every byte as it comes: not masked, not capped",
        &Options::out_file},
    {"--err", "FILE", "the same for standard error", &Options::err_file},
    {"--exit-code", "WHOSE", "guard, or program: that of a command that came to its own end",
        read_choice<&Options::exit_code>, kNamesOf<ExitCode>},
};

// Of `run` and `exec`.
constexpr OptionRow kSandboxOptions[] = {
    {"--backend", "NAME", "auto, docker, namespace, host or container-use; the tiers follow the backend",
        read_choice<&Options::backend>, kBackendNames},
    sets("limits.timeout", {"--timeout", "TIME", "time limit of the whole run: 90 (seconds), 2.5s or 100ms"}),
    sets("limits.memory", {"--memory", "BYTES", "memory limit, such as 512m or 2g"}),
    sets("limits.cpus", {"--cpus", "N", "processors, such as 1.5"}),
    sets("limits.pids", {"--pids", "N", "limit of processes and threads"}),
    sets("docker.image", {"--image", "REF", "container image"}),
    excludes("--allow",
        {"--network", "MODE", "none, allowlist, bridge, host; record: refuse all and print what was asked for, as TOML",
            read_network, kNetworks}),
    repeated({"--allow", "HOST", "what the code may reach, instead of [network] allow: host, host:port, *.host, @npm",
        read_allow}),
    {"--network-log", {}, "print each connection that ends, and why one was refused", &Options::network_log},
    repeated({"--env", "NAME[=VALUE]",
        "set a variable in the sandbox and mask its value; without =VALUE take guard's own", read_variable}),
    repeated({"--env-file", "FILE",
        "set the variables of FILE, a NAME=VALUE in each line, and mask their values; --env wins",
        &Options::env_files}),
    kMaskEnv,
    kProject,
    kReportFormat,
    {"--record", "FILE|FOLDER", "write the evidence record there (docs/evidence.md) instead of to [run] record",
        &Options::record},
    {"--quiet", {}, "no progress, only results", &Options::quiet},
    kColor,
    kConfig,
    kRules,
};

template <std::size_t A, std::size_t B>
constexpr auto joined(const OptionRow (&first)[A], const OptionRow (&second)[B]) {
  std::array<OptionRow, A + B> all = {};
  std::ranges::copy(second, std::ranges::copy(first, all.begin()).out);
  return all;
}
constexpr auto kRunOptions = joined(kOnlyRunOptions, kSandboxOptions);
constexpr auto kExecOptions = joined(kOnlyExecOptions, kSandboxOptions);

template <std::size_t N>
constexpr std::array<OptionRow, N> picked(std::span<const OptionRow> rows, const std::string_view (&names)[N]) {
  std::array<OptionRow, N> found = {};
  for (std::size_t i = 0; i < N; ++i) found[i] = *std::ranges::find(rows, names[i], &OptionRow::name);
  return found;
}

constexpr OptionRow kImageOptions[] = {
    excludes("--root-folder --all",
        {"--engine", {}, "only the image in the container engine", read_target<ImageTarget::engine>}),
    excludes("--all",
        {"--root-folder", {}, "only the root folder of the embedded sandbox", read_target<ImageTarget::root_folder>}),
    {"--all", {}, "both; with prune: images of all projects that no project needs any more",
        read_target<ImageTarget::all>},
    only("build",
        {"--template", "TEMPLATE", "build: make an image NAME for sessions out of this machine's Debian packages",
            read_choice<&Options::image_template>, kNamesOf<ImageTemplate>}),
    only("build",
        repeated({"--package", "PACKAGE", "build --template: take this Debian package, too", &Options::packages})),
    only("prune", {"--force", {}, "with prune --all: remove them", &Options::force}),
    only("prune", {"--dry-run", {}, "only print what would be removed", &Options::dry_run}),
    kProject,
    kConfig,
    kFormat,
};

constexpr OptionRow kRulesOptions[] = {kFormat, kColor};
constexpr OptionRow kDoctorOptions[] = {kFormat, kColor, kProject, kConfig};
constexpr OptionRow kConfigOptions[] = {kFormat, kProject, kConfig};
constexpr OptionRow kInitOptions[] = {kProject, {"--force", {}, "replace an existing guard.toml", &Options::force}};
constexpr OptionRow kVerifyOptions[] = {kProject, kConfig, kRules, kFormat};
constexpr OptionRow kBriefOptions[] = {
    {"--format", "FORMAT", "markdown, or json: one document on standard output", kReadFormat, kBriefFormats}, kProject,
    kConfig, kRules};
constexpr OptionRow kCleanOptions[] = {
    kFormat, kProject, {"--dry-run", {}, "only print what would be removed", &Options::dry_run}};

constexpr OptionRow kRedactOptions[] = {
    {"--cap", "BYTES", "print at most this much, such as 80k; the rest is dropped and counted (default 0: no cap)",
        read_cap},
    {"--keep", "WHAT", "what a cap keeps: head, or both (half from the beginning, half from the end)",
        read_choice<&Options::kept>, kNamesOf<Kept>},
    {"--stats", {}, "print what was masked, and how often, to standard error at the end", &Options::stats},
    {"--format", "FORMAT", "format of --stats: text or json", kReadFormat, kFormats},
    kMaskEnv,
    sets("redact.mask_file", repeated({"--mask-file", "FILE,..", "also mask the values in these files, one per line"})),
    kConfig,
};

constexpr OptionRow kHookOptions[] = {
    kProject,
    only("agent",
        {"--install", "AGENT", "agent: show the hook settings and brief for this agent, to be written with --yes",
            &Options::agent, kAgentNames}),
    {"--yes", {}, "agent --install: write them into the project", &Options::yes},
    only("agent", {"--mode", "MODE", "agent: which tiers apply, as for `guard check`", &Options::mode, kModes}),
    only("agent", kConfig),
    only("agent", kRules),
    kFormat,
};

constexpr OptionRow kNightlyOptions[] = {
    kProject,
    {"--state", "FOLDER",
        "folder for journal, evidence and outputs (default: ~/.local/state/guard, or GUARD_STATE_DIR)",
        &Options::state},
    only("resume status report review drop retry stop size",
        {"--night", "ID", "resume, status, report, review, size: this night instead of the newest", &Options::night}),
    only("run install",
        {"--resume", {}, "run: continue an unfinished night of the same plan, if there is one", &Options::go_on}),
    only("run", {"--again", {}, "run: also run tasks that are already decided", &Options::again}),
    only("status",
        {"--max-age", "SPAN", "status: exit 1 if no night has finished for this long: 26h, 90m, 2d", read_max_age}),
    only("retry review",
        {"--note", "TEXT", "retry, review send-back: a note for the generator's next attempt", &Options::note}),
    only("add", {"--plan", "FILE", "add: the plan (default: nightly.toml)", &Options::plan}),
    only("add", {"--id", "ID", "add: the task's id (default: made from its words)", &Options::id}),
    only("add",
        repeated({"--after", "ID", "add: run it after this task, and only if that one is accepted", &Options::after})),
    only("add",
        {"--task-kind", "KIND", "add: test (default) or any, as in `guard gate`", kReadKind, kNamesOf<TaskKind>}),
    only("report", {"--output", "FILE", "report: write the page there", &Options::output}),
    only("size", {"--tasks", "N", "size: how many attempts (default: as many as that night had)", read_tasks}),
    only("size", {"--workers", "N", "size: how many workers (default: 1, 2, 4, ...)", read_workers}),
    only(
        "work", {"--scratch", "DIR", "work: where clones are made (default: the temporary folder)", &Options::scratch}),
    only("work", {"--key", "FILE", "work: sign the result with this private key, by ssh-keygen", &Options::key}),
    only("install", {"--at", "HH:MM", "install: when the night starts (default: 02:00)", read_time_of_day}),
    only("install uninstall",
        {"--user", {}, "install: units of this user, in ~/.config/systemd/user; uninstall: remove those",
            &Options::user}),
    kConfig,
    kRules,
    {"--format", "FORMAT", "text or json; report: also md and html", kReadFormat, kNightlyFormats},
    kColor,
    {"--quiet", {}, "run, resume: print only the result", &Options::quiet},
};

constexpr OptionRow kState = {"--state", "FOLDER",
    "folder for sessions and their workspaces (default: ~/.local/state/guard, or GUARD_STATE_DIR)", &Options::state};
constexpr OptionRow kSessionBackend = {"--backend", "NAME", "docker or namespace; where no `guard serve` runs",
    read_choice<&Options::backend>, kBackendNames};
constexpr auto kSessionBackendNames = [] {
  std::array<std::string_view, kBackendNames.size() + 1> names = {};
  *std::ranges::copy(kBackendNames, names.begin()).out = kAcads;
  return names;
}();
constexpr OptionRow kSessionPlace = {"--backend", "NAME",
    "docker or namespace, where no `guard serve` runs; acads: a session pool at Azure (docs/backends.md)",
    read_session_backend, kSessionBackendNames};
constexpr OptionRow kSessionImage = sets("session.image",
    {"--image", "NAME", "the image of new sandboxes, as `guard image list` names it; where no `guard serve` runs"});
constexpr OptionRow kTrace = {"--trace", "FILE",
    "write a line of JSON for each command of a session and each file it made to FILE (-: standard error)",
    &Options::trace};
constexpr OptionRow kOtlp = {"--otlp", "URL",
    "export each command as a span, without its output, to a collector here: http://127.0.0.1:4318", &Options::otlp};
constexpr OptionRow kArtifacts = {"--artifacts", "KEEP",
    "catalogue what commands make (guard artifacts), and keep the contents of: none, failed commands' files, all",
    read_choice<&Options::keep_artifacts>, kNamesOf<sessions::Keep>};
constexpr OptionRow kArtifactsFileMax = {"--artifacts-file-max", "SIZE",
    "a larger file gets a row, but no digest, and is not kept (default: 64m)",
    read_bytes<&Options::artifact_bytes_max>};
constexpr OptionRow kArtifactsMax = {"--artifacts-max", "SIZE",
    "of all that is kept; the oldest contents go (default: 1g)", read_bytes<&Options::artifacts_bytes_max>};
constexpr OptionRow kArtifactsAge = {
    "--artifacts-age", "SPAN", "forget artifacts after so long: 12h, 7d (default: 30d)", read_max_age};
constexpr OptionRow kArtifactsOptions[] = {
    {"--session", "SESSION", "only those of this session", &Options::session},
    only("get", {"--output", "FILE", "get: write it there (mode 0600); - prints it", &Options::output}),
    only("get", {"--force", {}, "get: overwrite FILE", &Options::force}),
    only("prune", {"--older-than", "SPAN", "prune: what was made so long ago: 12h, 7d (default: 30d)", read_max_age}),
    only("prune", {"--dry-run", {}, "prune: say what would go, and remove nothing", &Options::dry_run}),
    kState,
    kFormat,
};
constexpr OptionRow kServeOptions[] = {
    kState,
    kSessionBackend,
    {"--listen", "ADDRESS", "answer at 127.0.0.1:PORT or [::1]:PORT as well, whoever has the token", &Options::listen},
    {"--token-file", "FILE", "where the token is, or is put (mode 0600; default: sessions/token in the state folder)",
        &Options::token_file},
    {"--log", "FILE", "write a line of JSON for each request to FILE, or to standard error where it is -",
        &Options::log_file},
    kTrace,
    kOtlp,
    kArtifacts,
    kArtifactsFileMax,
    kArtifactsMax,
    kArtifactsAge,
    {"--drain", "TIME", "when asked to stop, what runs has so long to end by itself (default: 10)", read_time_limit},
    only("install", {"--print", {}, "install: print the units, and write nothing", &Options::print}),
    only("install uninstall", {"--force", {}, "install, uninstall: units that were changed, too", &Options::force}),
    sets("session.image", {"--image", "NAME", "the image of all sandboxes, as `guard image list` names it"}),
    kProject,
    kConfig,
    {"--quiet", {}, "no progress, only errors", &Options::quiet},
};
constexpr OptionRow kMcpOptions[] = {
    only("install",
        {"--client", "NAME", "install: whose settings: claude, cursor, vscode or gemini", &Options::client,
            mcp::kClientNames}),
    only("install", {"--yes", {}, "install: write them into the project", &Options::yes}),
    {"--tenant", "NAME", "tools reach the sessions NAME/... and no others (default: mcp)", &Options::tenant},
    kTrace,
    kOtlp,
    kArtifacts,
    kArtifactsFileMax,
    kArtifactsMax,
    kArtifactsAge,
    kMaskEnv,
    kState,
    kSessionBackend,
    kSessionImage,
    kProject,
    kConfig,
};
constexpr OptionRow kOnlyShellOptions[] = {
    {"--record", "FILE", "the sandbox of the run that this evidence record is of, or none", &Options::record},
    {"--cwd", "DIR", "start in this folder of the project", &Options::cwd},
    kState,
};
constexpr auto kShellOptions = [] {
  constexpr std::string_view kPlace[] = {"--backend", "--timeout", "--memory", "--cpus", "--pids", "--image", "--env",
      "--env-file", "--project", "--quiet", "--config"};
  const auto place = picked(kSandboxOptions, kPlace);
  std::array<OptionRow, std::size(kOnlyShellOptions) + place.size()> all = {};
  std::ranges::copy(place, std::ranges::copy(kOnlyShellOptions, all.begin()).out);
  return all;
}();
constexpr OptionRow kSessionOptions[] = {
    excludes("--stdin --background --format",
        only("exec",
            {"--tty", {}, "exec: on this terminal, for a person; what is printed is not masked", &Options::tty})),
    only("exec", {"--cwd", "DIR", "exec: the folder inside (default /workspace)", &Options::cwd}),
    only("exec",
        {"--stdin", "FILE", "exec: let the command read FILE, or guard's own input where it is -", &Options::input}),
    only("exec",
        {"--timeout", "TIME", "exec: time limit: 90 (seconds), 2.5s or 100ms (default: none)", read_time_limit}),
    only("exec",
        {"--background", {}, "exec: answer the command's id at once; `log` reads what it prints",
            &Options::background}),
    only("exec",
        repeated({"--env", "NAME[=VALUE]", "exec: set a variable and mask its value; without =VALUE take guard's own",
            read_variable})),
    excludes("--unix",
        only("port",
            {"--listen", "ADDRESS", "port: listen at 127.0.0.1:PORT or [::1]:PORT, for all who use this machine",
                &Options::listen})),
    only("port", {"--unix", "PATH", "port: listen at this socket, for you alone (mode 0600)", &Options::socket}),
    only("watch", {"--recursive", {}, "watch: also what lies in folders below", &Options::recursive}),
    only("close", {"--remove", {}, "close: remove the workspace, too", &Options::remove}),
    kMaskEnv,
    kState,
    kSessionPlace,
    kSessionImage,
    kProject,
    kFormat,
    {"--quiet", {}, "no progress, only results", &Options::quiet},
    kConfig,
};

// ---- actions and arguments ----

constexpr std::string_view kNoSession = "guard session needs the session: TENANT/CONVERSATION";
constexpr std::string_view kASession = "guard session exec me/first -- bun --version";
constexpr ActionRow kSessionActions[] = {
    {Action::open, "SESSION", 1, kNoSession, kASession},
    {.action = Action::exec,
        .takes = "SESSION [OPTION...] -- COMMAND ARGUMENT...",
        .arguments_max = kAnyNumber,
        .missing = kNoSession,
        .example = kASession,
        .is_command = true},
    {Action::upload, "SESSION FILE PATH", 3, kNoSession, "guard session upload me/first data.csv data.csv"},
    {Action::download, "SESSION PATH [FILE]", 3, kNoSession, "guard session download me/first out.txt"},
    {Action::port, "SESSION PORT --unix PATH|--listen ADDRESS", 2, kNoSession,
        "guard session port me/first 3000 --unix app.socket"},
    {Action::watch, "SESSION [PATH] [--recursive]", 2, kNoSession, "guard session watch me/first --recursive"},
    {Action::ls, "SESSION [PATH]", 2, kNoSession, kASession},
    {Action::list},
    {Action::commands, "SESSION", 1, kNoSession, kASession},
    {Action::log, "SESSION COMMAND", 2, kNoSession, kASession},
    {Action::close, "SESSION [--remove]", 1, kNoSession, kASession},
    {Action::stats},
};

constexpr ActionRow kArtifactsActions[] = {
    {Action::list},
    {Action::get, "ID|PATH --output FILE", 1, "guard artifacts get needs the number or path of an artifact",
        "guard artifacts get out/report.csv --output report.csv"},
    {Action::prune, "[--older-than SPAN] [--dry-run]"},
};

constexpr ActionRow kServeActions[] = {{}, {Action::install}, {Action::uninstall}};

constexpr ActionRow kMcpActions[] = {{}, {Action::install, "--client NAME [--yes]"}};

constexpr ActionRow kShellActions[] = {{.takes = "[SESSION]", .arguments_max = 1}};
constexpr std::string_view kNoImport = "guard image import needs a name, and what it is to be made of";
constexpr std::string_view kAnImport = "guard image import python python.tar";
constexpr ActionRow kNoArguments[] = {{}};
constexpr ActionRow kFiles[] = {{.arguments_max = kAnyNumber}};
constexpr ActionRow kExecActions[] = {{.arguments_max = kAnyNumber,
    .missing = "guard exec needs a command",
    .example = "guard exec -- COMMAND ARGUMENT...",
    .is_command = true}};
constexpr ActionRow kVerifyActions[] = {{.arguments_max = kAnyNumber,
    .missing = "guard verify needs the record to check",
    .example = "guard verify record.json --project DIR"}};
constexpr ActionRow kImageActions[] = {
    {Action::build, "[--template TEMPLATE NAME [--package PACKAGE]...]", 1},
    {Action::import_image, "NAME FOLDER|ARCHIVE|docker://REFERENCE", 2, kNoImport, kAnImport},
    {Action::list},
    {Action::prune, "[--all [--force]] [--dry-run]"},
    {Action::remove, "NAME", 1, "guard image remove needs the name of an imported image", "guard image list"},
};
constexpr ActionRow kRulesActions[] = {
    {Action::list},
    {Action::show, "ID", 1, "guard rules show needs the id of a rule", "`guard rules list` has all ids"},
    {Action::check, "[DIR]", 1},
    {Action::views, "FILE", 1, "guard rules views needs a file to read", "guard rules views sandbox/sum.test.ts"},
    {Action::doc},
    {Action::diff, "OLD NEW [PATH...]", kAnyNumber},
};
constexpr ActionRow kConfigActions[] = {{Action::show}};
constexpr ActionRow kHookActions[] = {
    {Action::install}, {Action::uninstall}, {Action::status}, {Action::agent, "[--install AGENT [--yes]]"}};
constexpr std::string_view kNoPlan = "guard nightly needs the plan of the night";
constexpr std::string_view kAPlan = "guard nightly run nightly.toml; docs/nightly.md shows one";
constexpr std::string_view kNoTasks = "there are no ids of tasks";
constexpr std::string_view kTheTasks = "`guard nightly list` shows them";
constexpr ActionRow kNightlyActions[] = {
    {Action::run, "PLAN.toml", kAnyNumber, kNoPlan, kAPlan},
    {Action::resume},
    {Action::status},
    {Action::stop},
    {Action::report},
    {Action::review, "[take|drop|send-back TASK...]", kAnyNumber},
    {Action::add, "TEXT...", kAnyNumber, "guard nightly add needs the task, in words",
        "guard nightly add \"test that parse() refuses an empty text\""},
    {Action::list},
    {Action::retry, "TASK...", kAnyNumber, kNoTasks, kTheTasks},
    {Action::drop, "TASK...", kAnyNumber, kNoTasks, kTheTasks},
    {Action::plan, "PLAN.toml", kAnyNumber, kNoPlan, kAPlan},
    {Action::install, "PLAN.toml", kAnyNumber, kNoPlan, kAPlan},
    {Action::uninstall},
    {Action::size},
    {Action::export_, "kubernetes|agent-sandbox PLAN.toml", 2, "guard nightly export needs a form and a plan",
        "guard nightly export kubernetes nightly.toml"},
    {Action::work, "TASK_FOLDER...", kAnyNumber, "guard nightly work needs the folder of a task",
        "guard nightly work /shared/tasks/NIGHT/add-negative-1"},
    {.action = Action::supervise,
        .arguments_max = kAnyNumber,
        .missing = "guard nightly supervise is what guard starts itself for",
        .example = "guard nightly run PLAN.toml",
        .is_command = true,
        .hidden = true},
};
constexpr ActionRow kGenerateActions[] = {{Action::man}, {Action::bash}, {Action::zsh}, {Action::fish}};

// ---- verbs ----

constexpr std::string_view kCheckStatus =
    "0 no findings; 1 findings; 2 undecided (unreadable or no files, bad rules or configuration);\n"
    "3 only host findings, and the state of the container engine is unknown; 64 usage";
constexpr std::string_view kRunStatus =
    "0 allowed: all tests ran and passed; 1 rejected; 2 undecided: evidence is missing;\n"
    "3 no environment may be used; 64 usage; 130 interrupted, 143 terminated";
constexpr std::string_view kExecStatus =
    "0 the command exited with 0; 1 it did not, or a limit or signal ended it; 2 undecided: the outcome is unknown;\n"
    "3 no environment may be used; 64 usage; 130 interrupted, 143 terminated; with --exit-code program\n"
    "that of the command, where it came to its own end";
constexpr std::string_view kPlainStatus = "0 done, 2 failed, 64 usage";

constexpr VerbRow kVerbs[] = {
    {.name = "check",
        .summary = "check files against the rules, without running them",
        .usage = R"(check PATH...
check --staged
check -
check)",
        .about = R"(Matches TypeScript and JavaScript against guard's rules. Folders are searched
recursively. Files are checked together with what they import, since a leak can be split between two files. Without
PATH, checks what [check] paths in guard.toml lists. A finding can be waived in guard.toml; --print-waiver prints the
entry.)",
        .actions = kFiles,
        .options = kCheckOptions,
        .examples = R"(guard check sandbox/
guard check --staged --format json
guard check --format sarif sandbox/ > guard.sarif
guard check --explain sandbox/a.test.ts:12
generate | guard check - --stdin-name sandbox/new.test.ts)",
        .exit_status = kCheckStatus,
        .run = cmd_check,
        .check = check_check},
    {.name = "gate",
        .summary = "check a change: what it touches and what it adds",
        .usage = R"(gate [--base REV]
gate --base REV --head REV
gate --staged [--base REV]
gate --patch FILE [--base REV])",
        .about = R"(Applies three checks. Policy: number of files and lines, allowed paths, no links,
binaries or mode changes, nothing that configures git, CI, agents or tools ([policy] in guard.toml). Secrets: no
banned pattern on any added line. Rules: everything that `guard check` looks for, in files under [check] paths.
Without options it checks the uncommitted changes: the work tree against HEAD, with new files, without those that
.gitignore of HEAD excludes. The two trees are compared directly; if the base has moved on, name the merge base.
guard.toml is read from the base. docs/gate.md lists what is refused and why.)",
        .actions = kNoArguments,
        .options = kGateOptions,
        .examples = R"(guard gate
guard gate --staged --task-kind any
guard gate --base main --head topic --format json
guard gate --patch change.diff --base v1.2
generate | guard gate --patch -)",
        .exit_status = R"(0 allowed; 1 findings; 2 undecided (nothing changed, no such revision, a patch that
does not apply, bad rules or configuration); 3 only host findings, and the state of the container engine is unknown;
64 usage)",
        .run = cmd_gate,
        .check = check_gate},
    {.name = "run",
        .summary = "check tests, run them in a sandbox, and decide",
        .usage = "run [FILE|FOLDER...]",
        .about = R"(Checks the files, then runs exactly what was checked with `bun test` in a sandbox.
Secrets in the output are masked. A pass needs evidence that the tests of every file ran. Without arguments, all tests
of the project run.)",
        .actions = kFiles,
        .options = kRunOptions,
        .examples = R"(guard run sandbox/*.test.ts
guard run --collect all sandbox/*.test.ts
guard run --backend namespace --timeout 60 sandbox/sum.test.ts
guard run --env TZ=UTC --format json sandbox/
guard run --jobs 4 --record evidence/ sandbox/)",
        .exit_status = kRunStatus,
        .run = cmd_run,
        .check = check_run},
    {.name = "exec",
        .summary = "run any command in the same sandbox, unchecked",
        .usage = "exec [OPTION...] -- COMMAND ARGUMENT...",
        .about = R"(The command is started directly, not by a shell, and guard's image has none: only bun,
the C library and the project's packages. Limits, masking and clean-up are those of `guard run`. A file of --out or
--err gets the bytes as they come: nothing in it is masked, and only the flood limit holds.)",
        .actions = kExecActions,
        .options = kExecOptions,
        .examples = R"(guard exec -- bun --version
guard exec --memory 512m -- bun -e 'console.log(process.memoryUsage().rss)'
guard exec --out page.pdf -- bun src/print.ts
printf hi | guard exec --stdin - --exit-code program -- bun -e 'process.exit((await Bun.stdin.text()).length)')",
        .exit_status = kExecStatus,
        .run = cmd_exec,
        .check = check_exec,
        .placement = Placement::behind_dashes},
    {.name = "session",
        .summary = "run commands in a sandbox that stays, with a workspace of its own",
        .about = R"(A session TENANT/CONVERSATION has a sandbox of its own, whose network is what [network] allow
lists, and a folder /workspace that outlives it (--backend acads has neither). Where `guard serve` runs, it keeps the
sandbox between calls, and a call costs a millisecond more than the command alone; else each call starts one. What is
run is not checked. Masked is what `exec` and `log` print; a file that is downloaded comes as it is. A command sees what
`guard exec` shows, bun and the project's packages, or the image that session.image names. `port` reaches a TCP server
inside (at 127.0.0.1 there) until Ctrl-C; every user of this machine can connect to a port here, and only you to a
socket of --unix.)",
        .actions = kSessionActions,
        .options = kSessionOptions,
        .examples = R"(guard session exec me/first -- bun -e 'await Bun.write("a", "1")'
guard session ls me/first
guard session exec me/first --background -- bun server.ts
guard session port me/first 3000 --unix app.socket
guard session close me/first --remove)",
        .exit_status = R"(exec: that of the command, 124 where its time was over, 128 and the signal's number
where one ended it; else 0 done, 2 failed, 3 no environment may be used, 64 usage)",
        .run = cmd_session},
    {.name = "shell",
        .summary = "open a terminal in a sandbox, to find out why a test fails",
        .usage = "shell [OPTION...] [SESSION]",
        .about = R"(Without a session: in a fresh sandbox of the project, as `guard run` makes it, with the same
files, image, mounts and limits (of time only with --timeout). With --record: in that of a recorded run, unless files,
settings, image or bun are others by now. With a session: in its sandbox and /workspace. It starts bash or sh where the
image has one, else `bun repl`. Nothing is checked, and nothing that is printed is masked: a masker holds back what may
be the beginning of a secret, and with it the echo of each key.)",
        .actions = kShellActions,
        .options = kShellOptions,
        .examples = R"(guard shell
guard shell --record evidence/20300131T120000Z-r0123456789abcdef0123.json
guard shell me/first)",
        .exit_status = R"(that of the shell, 128 and the signal's number where one ended it; 2 failed, 3 no environment
may be used, 64 usage)",
        .run = cmd_shell},
    {.name = "serve",
        .summary = "keep sandboxes ready for sessions, for programs of this user",
        .usage = "serve [--state FOLDER] [--backend NAME] [--listen 127.0.0.1:PORT]\n"
                 "serve install [--print] [--force] [OPTION...]\nserve uninstall [--force]",
        .about = R"(Keeps a pool of ready sandboxes and the sandboxes of sessions, and answers HTTP on the
socket sessions/socket in the state folder (mode 0600, this user only): `guard session` finds it there, /metrics is for
Prometheus, /healthz for a supervisor. With --listen other programs of this machine ask there, with "Authorization:
Bearer TOKEN"; web pages are refused. One client may have 128 open sessions, 2,000 requests a second and 256 MB of
bodies on their way; what is more is refused (429), and can be asked for again later. Sandboxes end with `guard serve`;
every workspace stays. TERM refuses what is new, lets what runs end within --drain, and then ends it. `install` writes
units of systemd for this user: a socket, and the service that it starts with these options when somebody asks.)",
        .actions = kServeActions,
        .options = kServeOptions,
        .examples = R"(guard serve
guard serve --listen 127.0.0.1:4711 --log serve.jsonl)",
        .exit_status = "0 asked to stop, and did; 2 failed, 3 no environment may be used, 64 usage",
        .run = cmd_serve},
    {.name = "mcp",
        .summary = "offer the sandbox and the gate as tools to a coding agent",
        .usage = "mcp [OPTION...]\nmcp install --client NAME [--yes]",
        .about = R"(A server of the Model Context Protocol on standard input and output, which the agent starts itself.
Its tools: shell_execute and python_execute run code in the sandbox of a session, sandbox_fs_list, sandbox_fs_read and
sandbox_fs_write work on its files, guard_check and guard_run judge files of the project as `guard check` and `guard
run` do. A client has a session of its own, or names one; its sandbox ends with the client, its workspace stays. Where
`guard serve` runs, the sandboxes are there; else the first client's server keeps them for all. What tools answer is
masked and capped as the output of a run. `install` shows what it would add to an agent's settings in the project.)",
        .actions = kMcpActions,
        .options = kMcpOptions,
        .examples = R"(guard mcp install --client claude --yes
guard mcp --image python)",
        .exit_status = R"(0 the client has gone, or it was asked to stop; install: 0 up to date, 1 not written yet; 2
failed, 64 usage)",
        .run = cmd_mcp},
    {.name = "artifacts",
        .summary = "list, fetch or forget the files that commands of sessions made",
        .about = R"(Where `guard serve` or `guard mcp` was started with --artifacts, each regular file of
/workspace that a command made or changed is catalogued at its end: path, size, SHA-256, media type, session, outcome.
Files that a client puts there are not, nor what other commands do in a step's time. `get` takes a number of `list`, or
a path, whose newest contents it writes after checking them against the digest. All work while `guard serve` runs.)",
        .actions = kArtifactsActions,
        .options = kArtifactsOptions,
        .examples = R"(guard artifacts list --session me/first
guard artifacts get out/report.csv --output report.csv
guard artifacts prune --older-than 7d --dry-run)",
        .exit_status = kPlainStatus,
        .run = cmd_artifacts},
    {.name = "image",
        .summary = "build, list or remove the images that tests and sessions run on",
        .about = R"(Tests run on an image made of this machine's bun and C library and the project's
locked dependencies. Its tag is a digest of those contents, so a stale image is never used. `prune` removes the images
that this project used and no longer needs; --all lists those of every project, and --force removes them. An image
that some project's lockfile needs is kept. Images unused for image.unused_days are removed by the next build.
Sessions can run on an image of their own, which session.image or --image names: `import` makes it of a root file
system (a folder or tar archive), an OCI layout, what `docker save` writes, or an image of the container engine;
`build --template` makes it of Debian's packages: git, curl, jq, ca-certificates and python, node or bun.)",
        .actions = kImageActions,
        .options = kImageOptions,
        .examples = R"(guard image build
guard image build --template python science --package python3-numpy
guard image import tools docker://registry.example/tools:1.2
guard image list --format json
guard image prune --dry-run)",
        .exit_status = "0 done, 2 failed, 3 dependencies or engine are missing, 64 usage",
        .run = cmd_image,
        .check = check_image},
    {.name = "rules",
        .summary = "list, explain or test the rules",
        .about = R"(`show` explains one rule with examples. `check` runs the examples of every rule
through both matching engines; DIR is a folder of your own rules. `views` shows how rules read a file, `doc` prints
the page docs/rules.md. docs/writing-rules.md explains how to write a rule. `diff` lists the lines of your files that
NEW refuses and OLD doesn't; each is a folder of rules, such as rules/ of another release, or the word built-in.)",
        .actions = kRulesActions,
        .options = kRulesOptions,
        .examples = R"(guard rules list
guard rules show always.env_dump
guard rules check my-rules/
guard rules diff ../guard-1.0/rules built-in src/)",
        .exit_status = R"(0 done, 1 diff: lines are newly refused, 2 failed, or a rule fails its examples; 64
usage)",
        .run = cmd_rules,
        .check = check_rules},
    {.name = "doctor",
        .summary = "report what works on this machine, and how to fix what doesn't",
        .usage = "doctor",
        .about = "Checks configuration, rules, engine, embedded sandbox, bun and image. Changes nothing.",
        .actions = kNoArguments,
        .options = kDoctorOptions,
        .examples = R"(guard doctor
guard doctor --format json)",
        .exit_status = "0 tests can run here, 2 failed, 3 no environment may be used, 64 usage",
        .run = cmd_doctor},
    {.name = "config",
        .summary = "show every setting and its source",
        .about = R"(Precedence, lowest first: default, guard.toml, GUARD_<SECTION>_<KEY> in the
environment, options. guard.toml is searched for from the current folder up to the repository's root, but not in the
sandbox folder.)",
        .actions = kConfigActions,
        .options = kConfigOptions,
        .examples = R"(guard config show
guard config show --config ci/guard.toml --format json)",
        .exit_status = kPlainStatus,
        .run = cmd_config},
    {.name = "init",
        .summary = "report what guard finds here, and write a commented guard.toml",
        .usage = "init",
        .about = R"(Reports the tests, their runner and packages, and what won't work. guard.toml gets
every key with its default, commented out; check.paths is set if the tests are not in sandbox/.)",
        .actions = kNoArguments,
        .options = kInitOptions,
        .examples = R"(guard init
guard init --project ../other --force)",
        .exit_status = kPlainStatus,
        .run = cmd_init},
    {.name = "brief",
        .summary = "print what a generator has to know to write code for this project",
        .usage = "brief",
        .about = R"(Where it may write, what tests see, how they are judged, what the rules refuse and
what to write instead, and an example. Put it into a prompt, CLAUDE.md or AGENTS.md. Nights put it in front of the
first prompt of each task.)",
        .actions = kNoArguments,
        .options = kBriefOptions,
        .examples = R"(guard brief
guard brief --project ../other --format json)",
        .exit_status = kPlainStatus,
        .run = cmd_brief},
    {.name = "redact",
        .summary = "mask secrets in a stream",
        .usage = "redact [FILE...]",
        .about = R"(The filter that guard applies to the output of tests, for any other output. Keys,
tokens and known values become [REDACTED:kind].)",
        .actions = kFiles,
        .options = kRedactOptions,
        .examples = R"(make test 2>&1 | guard redact
guard redact --stats --mask-env DEPLOY_KEY build.log)",
        .exit_status = "0 done, 2 failed: output that may contain secrets was withheld, 64 usage",
        .run = cmd_redact,
        .check = check_redact},
    {.name = "hook",
        .summary = "check every commit, and what a coding agent is about to write",
        .about = R"(`install` adds a pre-commit hook that runs `guard check --staged`, and blocks commits
when guard is missing. Existing hooks are kept. `agent` reads one event of a coding agent from standard input (a file
to write, a command to run) and answers in the agent's format. `agent --install` puts the settings for that into the
project, and the output of `guard brief` into the agent's file of instructions.)",
        .actions = kHookActions,
        .options = kHookOptions,
        .examples = R"(guard hook install
guard hook status --format json
guard hook agent --install claude --yes)",
        .exit_status = R"(install, uninstall: 0 done, 2 failed; status: 0 installed, 1 absent, outdated or
foreign, 2 failed;
agent: 0 allowed, 2 denied, for whatever reason; agent --install: 0 up to date, 1 not written yet, 2 failed; 64 usage)",
        .run = cmd_hook,
        .check = check_hook},
    {.name = "verify",
        .summary = "check an evidence record against the project",
        .usage = "verify RECORD",
        .about = R"(A run can write a record of what ran, where, under which limits, and the result
(--record, [run] record). verify checks that the record is unchanged and consistent, and that the project's files,
guard.toml, guard, its rules, the image and bun are still the same. It confirms the record, not that the run was
allowed: the verdict is in its first line. Anyone who can write to the record can forge a consistent one; keep its
digest where they can't write.)",
        .actions = kVerifyActions,
        .options = kVerifyOptions,
        .examples = R"(guard run --record evidence/ sandbox/*.test.ts
guard verify evidence/20300131T120000Z-r0123456789.json
guard verify --project ../other --format json record.json)",
        .exit_status = R"(0 confirmed; 1 something differs, or the record was changed; 2 unreadable, or not
everything could be checked; 64 usage)",
        .run = cmd_verify,
        .check = check_verify},
    {.name = "nightly",
        .summary = "let a generator work through a plan, and keep what passes",
        .about = R"(`run` gives each task of the plan to its generator (any program that reads a prompt
from standard input) in its own clone, gates the change, runs its tests in the sandbox, checks that new tests detect
broken code, and commits what was allowed to a branch of the night. What was refused goes back to the generator with
the findings, as often as the plan allows. After a crash, `resume` continues. `report` is the morning page; `review`
takes, drops or sends back what was accepted. `plan` checks a plan without running it; `install` schedules it.
docs/nightly.md has the format and recipes. `work` makes one attempt for a night on another machine, from the folder
that an [executor] of the plan wrote; `export` prints manifests that have a cluster do so; `size` tells from measured
times how long a night takes on more machines.
The plan is a queue across nights: tasks that were accepted, dropped or given up are skipped the next time. `list`
shows the state of each task, `add` appends one, `retry` runs one again with your note for its generator, and `run
--again` runs all.)",
        .actions = kNightlyActions,
        .options = kNightlyOptions,
        .examples = R"(guard nightly plan nightly.toml
guard nightly run nightly.toml
guard nightly status --max-age 26h
guard nightly report --format html --output morning.html
guard nightly review take add-negative
guard nightly retry add-negative --note "use smaller numbers"
guard nightly add "test that parse() refuses an empty text" --after add-negative)",
        .exit_status = R"(run, resume: 0 every task accepted, 1 every task decided, some refused or failed, 2
some undecided or guard failed, 3 no environment may be used; status: 0, with --max-age 1 if a night is overdue;
others: 0 done, 2 failed; 64 usage; 130 interrupted, 143 terminated)",
        .run = cmd_nightly,
        .check = check_nightly},
    {.name = "clean",
        .summary = "remove leftovers of killed runs",
        .usage = "clean [--project DIR] [--dry-run]",
        .about = R"(Removes containers, processes and folders of runs whose guard process is gone, also in
the project, the folder of records and the temporary folder. Running ones are kept.)",
        .actions = kNoArguments,
        .options = kCleanOptions,
        .examples = R"(guard clean --dry-run
guard clean)",
        .exit_status = kPlainStatus,
        .run = cmd_clean},
    {.name = "audit",
        .summary = "report what guard would have refused in the past",
        .usage = "audit [--since REV] [--run]",
        .about = R"(Replays commits through the checks of the pre-commit hook, with the guard.toml of
HEAD, and lists those that would have been refused, and by which rules. Merges and the first commit are left out.
Nothing is changed. docs/adoption.md has the rest.)",
        .actions = kNoArguments,
        .options = kAuditOptions,
        .examples = R"(guard audit
guard audit --since v1.2 --task-kind any --format json
guard audit --run)",
        .exit_status = "0 all allowed, 1 some refused, 2 some undecided, or failed; 64 usage",
        .run = cmd_audit},
    {.name = "generate",
        .summary = "print the manual page or a shell's completions",
        .about = R"(`cmake --install` puts them where man and the shells look. To try completions in a
running shell: source <(guard generate bash).)",
        .actions = kGenerateActions,
        .options = {},
        .examples = R"(guard generate man | man -l -
guard generate fish > ~/.config/fish/completions/guard.fish)",
        .exit_status = "0 done, 64 usage",
        .run = cmd_generate},
};

std::string indented(std::string_view lines, std::string_view before) {
  std::string text;
  for (const auto line : pieces_of(lines)) text += fmt::format("{}{}\n", before, line);
  return text;
}

std::string option_lines(std::span<const OptionRow> rows) {
  constexpr std::string_view kLine = "  {:<22} {}{}\n";
  std::string text;
  for (const auto& row : rows) {
    const std::string left = fmt::format("{}{}{}{}{}", row.short_name, row.short_name.empty() ? "" : ", ", row.name,
        row.value.empty() ? "" : " ", row.value);
    text += fmt::format(kLine, left, row.help, row.key.empty() ? "" : fmt::format(" [{}]", row.key));
  }
  return text + fmt::format(kLine, "--help", "this text", "");
}

std::string verb_lines() {
  std::string text;
  for (const auto& row : kVerbs) text += fmt::format("  {:<8} {}\n", row.name, row.summary);
  return text;
}

}  // namespace

std::span<const VerbRow> verbs() { return kVerbs; }

const VerbRow* find_verb(std::string_view name) {
  const auto* found = std::ranges::find(kVerbs, name, &VerbRow::name);
  return found == std::end(kVerbs) ? nullptr : found;
}

std::string usage_of(const VerbRow& row) {
  if (!row.usage.empty()) return std::string(row.usage);
  std::string text;
  for (const auto& action : row.actions) {
    if (action.hidden) continue;
    text += fmt::format("{}{} {}{}{}", text.empty() ? "" : "\n", row.name, to_string(action.action),
        action.takes.empty() ? "" : " ", action.takes);
  }
  return text;
}

std::string help_text(const VerbRow& row) {
  return fmt::format("guard {}: {}\n\nUsage:\n{}\n{}\n\nOptions:\n{}\nExamples:\n{}\nExit status:\n{}", row.name,
      row.summary, indented(usage_of(row), "  guard "), row.about, option_lines(row.options),
      indented(row.examples, "  "), indented(row.exit_status, "  "));
}
std::string help_text() {
  return fmt::format(
      "guard lets machine-written TypeScript and JavaScript run unattended: it checks the code, runs its tests in a "
      "sandbox, masks\n"
      "what they print, and gives a verdict.\n\n"
      "Usage:\n  guard VERB [OPTION...] [ARGUMENT...]\n  guard help VERB\n  guard -V | --version\n\n"
      "Verbs:\n{}\n"
      "Examples:\n  guard run sandbox/*.test.ts\n  guard check --staged\n  guard doctor\n\n"
      "Exit status:\n"
      "  0 allowed, 1 rejected, 2 undecided, 3 no environment may be used, 64 usage, 130 interrupted, 143 terminated\n",
      verb_lines());
}

std::string short_help_text() {
  return fmt::format("usage: guard VERB [OPTION...] [ARGUMENT...]\n\n{}\n`guard help VERB` says more.\n", verb_lines());
}

}  // namespace guard
