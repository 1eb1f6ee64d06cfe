#include "cli/options/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace guard {
namespace {

constexpr std::array<std::string_view, 2> kFormats = {"text", "json"};
constexpr std::array<std::string_view, 3> kColors = {"auto", "always", "never"};
constexpr std::array<std::string_view, 4> kModes = {"auto", "docker", "host", "namespace"};
constexpr std::array<std::string_view, 5> kBackends = {"auto", "docker", "namespace", "host", "container-use"};

constexpr std::array<std::string_view, 3> kCollects = {"none", "listed", "all"};
constexpr std::array<std::string_view, 2> kTaskKinds = {"test", "any"};
constexpr std::array<std::string_view, 2> kKeeps = {"head", "both"};
constexpr OptionRow kFormat = {.name = "--format",
    .value = "FORMAT",
    .help = "text for people, or json: one document on standard output",
    .choices = kFormats};
constexpr std::array<std::string_view, 5> kReportFormats = {"text", "json", "sarif", "junit", "github"};
constexpr OptionRow kReportFormat = {.name = "--format",
    .value = "FORMAT",
    .help = "text, json, sarif (code scanning), junit (CI servers) or github (annotations of its Actions)",
    .choices = kReportFormats};
constexpr OptionRow kColor = {.name = "--color",
    .value = "WHEN",
    .help = "auto (on a terminal, unless NO_COLOR is set), always or never",
    .choices = kColors};
constexpr OptionRow kQuiet = {.name = "--quiet", .help = "no progress output"};
constexpr OptionRow kConfig = {
    .name = "--config", .value = "FILE", .help = "use this guard.toml instead of the project's"};
constexpr OptionRow kRules = {
    .name = "--rules", .value = "DIR", .help = "use the rules in this folder instead of the built-in ones"};
constexpr OptionRow kProject = {
    .name = "--project", .value = "DIR", .help = "the project's folder (default: the current one)"};
constexpr OptionRow kMaskEnv = {.name = "--mask-env",
    .value = "NAME,..",
    .help = "also mask the values of these variables",
    .repeats = true,
    .config_keys = "redact.mask_env"};

constexpr OptionRow kCheckOptions[] = {
    {.name = "--staged",
        .help = "check what `git commit` would commit: files in [check] paths, and all added lines for secrets"},
    {.name = "--mode",
        .value = "MODE",
        .help = "which tiers apply: auto (host findings ask the engine), docker, host or namespace",
        .choices = kModes},
    {.name = "--stdin-name", .value = "NAME", .help = "the file name for standard input (default stdin.ts)"},
    {.name = "--allow-empty", .help = "pass if there are no files"},
    {.name = "--jobs", .value = "N", .help = "number of threads (default: one per processor)"},
    {.name = "--no-ignore", .help = "also check files that git ignores (gated and named files always are)"},
    {.name = "--explain",
        .value = "PATH[:LINE]",
        .help = "show how guard reads this line, and why a rule did or did not match; PATHs are checked with it"},
    {.name = "--print-waiver", .help = "print waivers for the findings that allow one, to paste into guard.toml"},
    {.name = "--write-baseline",
        .help = "record today's findings outside [check] paths in guard-baseline.json; an existing one only shrinks"},
    {.name = "--no-baseline", .help = "report the findings in guard-baseline.json, too"},
    kReportFormat,
    kColor,
    kConfig,
    kRules,
};

constexpr OptionRow kGateOptions[] = {
    {.name = "--base", .value = "REV", .help = "compare with this revision, and use its guard.toml (default HEAD)"},
    {.name = "--head", .value = "REV", .help = "check this commit; needs --base"},
    {.name = "--staged", .help = "check the index: what `git commit` would commit"},
    {.name = "--patch", .value = "FILE", .help = "check the base with this patch applied; - reads standard input"},
    {.name = "--task-kind",
        .value = "KIND",
        .help = "test (default): lockfiles, manifests, build and hidden files may not change; any: other tasks",
        .choices = kTaskKinds},
    {.name = "--mode",
        .value = "MODE",
        .help = "the place that the rules are chosen for: auto, docker, host or namespace",
        .choices = kModes},
    {.name = "--allow-empty", .help = "pass if nothing changed"},
    kReportFormat,
    kColor,
    kConfig,
    kRules,
};

constexpr OptionRow kAuditOptions[] = {
    {.name = "--since", .value = "REV", .help = "replay the commits after this one (default: the newest 100)"},
    {.name = "--task-kind",
        .value = "KIND",
        .help = "apply [policy] as well, as `guard gate` does for these tasks",
        .choices = kTaskKinds},
    {.name = "--run", .help = "also run the tests that each commit adds or changes, in a sandbox"},
    {.name = "--mode", .value = "MODE", .help = "the place that the rules are chosen for", .choices = kModes},
    kFormat,
    kColor,
    kConfig,
    kRules,
};

// The first rows are for `run` alone.
constexpr OptionRow kRunOptions[] = {
    {.name = "--jobs",
        .value = "N",
        .help = "one sandbox per file, N at a time, sharing the limits (default: one sandbox for all)"},
    {.name = "--test-name",
        .value = "PATTERN",
        .help = "run only tests whose name, with its groups, matches this regular expression",
        .short_name = "-t"},
    {.name = "--coverage", .help = "run once more, and report which lines ran; not part of the verdict"},
    {.name = "--lcov", .value = "FILE", .help = "write the coverage to FILE in lcov's format; implies --coverage"},
    {.name = "--watch", .help = "run again whenever a file changes"},
    {.name = "--file-timeout",
        .value = "SECONDS",
        .help = "time limit of each test file; the other files still run",
        .config_keys = "run.file_timeout"},
    {.name = "--collect",
        .value = "MODE",
        .help = "which files written by passing tests to keep: none, listed (collect_paths) or all",
        .choices = kCollects,
        .config_keys = "run.collect"},
    {.name = "--backend",
        .value = "NAME",
        .help = "auto, docker, namespace, host or container-use; the tiers follow the backend",
        .choices = kBackends},
    {.name = "--timeout", .value = "SECONDS", .help = "time limit of the whole run", .config_keys = "limits.timeout"},
    {.name = "--memory", .value = "BYTES", .help = "memory limit, such as 512m or 2g", .config_keys = "limits.memory"},
    {.name = "--cpus", .value = "N", .help = "processors, such as 1.5", .config_keys = "limits.cpus"},
    {.name = "--pids", .value = "N", .help = "limit of processes and threads", .config_keys = "limits.pids"},
    {.name = "--image", .value = "REF", .help = "container image", .config_keys = "docker.image"},
    {.name = "--env",
        .value = "NAME[=VALUE]",
        .help = "set a variable in the sandbox and mask its value; without =VALUE take guard's own",
        .repeats = true},
    kMaskEnv,
    kProject,
    kReportFormat,
    {.name = "--record",
        .value = "FILE|FOLDER",
        .help = "write the evidence record there (docs/evidence.md) instead of to [run] record"},
    {.name = "--quiet", .help = "no progress, only results"},
    kColor,
    kConfig,
    kRules,
};

constexpr std::span<const OptionRow> kExecOptions = std::span(kRunOptions).subspan(7);

constexpr OptionRow kDryRun = {.name = "--dry-run", .help = "only print what would be removed"};
constexpr OptionRow kImageOptions[] = {
    {.name = "--engine", .help = "only the image in the container engine"},
    {.name = "--root-folder", .help = "only the root folder of the embedded sandbox"},
    {.name = "--all", .help = "both; with prune: images of all projects that no project needs any more"},
    {.name = "--force", .help = "with prune --all: remove them"},
    kDryRun,
    kProject,
    kConfig,
    kFormat,
};

constexpr OptionRow kRulesOptions[] = {kFormat, kColor};
constexpr OptionRow kDoctorOptions[] = {kFormat, kColor, kProject, kConfig};
constexpr OptionRow kConfigOptions[] = {kFormat, kProject, kConfig};
constexpr OptionRow kInitOptions[] = {kProject, {.name = "--force", .help = "replace an existing guard.toml"}};
constexpr OptionRow kRedactOptions[] = {
    {.name = "--cap",
        .value = "BYTES",
        .help = "print at most this much, such as 80k; the rest is dropped and counted (default 0: no cap)"},
    {.name = "--keep",
        .value = "WHAT",
        .help = "what a cap keeps: head, or both (half from the beginning, half from the end)",
        .choices = kKeeps},
    {.name = "--stats", .help = "print what was masked, and how often, to standard error at the end"},
    {.name = "--format", .value = "FORMAT", .help = "format of --stats: text or json", .choices = kFormats},
    kMaskEnv,
    {.name = "--mask-file",
        .value = "FILE,..",
        .help = "also mask the values in these files, one per line",
        .repeats = true,
        .config_keys = "redact.mask_file"},
    kConfig,
};
constexpr std::string_view kAgents[] = {"claude", "gemini", "copilot", "cursor"};
constexpr OptionRow kHookOptions[] = {
    kProject,
    {.name = "--install",
        .value = "AGENT",
        .help = "agent: show the hook settings and brief for this agent, to be written with --yes",
        .choices = kAgents},
    {.name = "--yes", .help = "agent --install: write them into the project"},
    {.name = "--mode", .value = "MODE", .help = "agent: which tiers apply, as for `guard check`", .choices = kModes},
    kConfig,
    kRules,
    kFormat,
};
constexpr OptionRow kVerifyOptions[] = {kProject, kConfig, kRules, kFormat};
constexpr std::string_view kNightlyFormats[] = {"text", "json", "md", "html"};
constexpr OptionRow kNightlyOptions[] = {
    kProject,
    {.name = "--state",
        .value = "FOLDER",
        .help = "folder for journal, evidence and outputs (default: ~/.local/state/guard, or GUARD_STATE_DIR)"},
    {.name = "--night", .value = "ID", .help = "resume, status, report, review: this night instead of the newest"},
    {.name = "--resume", .help = "run: continue an unfinished night of the same plan, if there is one"},
    {.name = "--again", .help = "run: also run tasks that are already decided"},
    {.name = "--max-age",
        .value = "SPAN",
        .help = "status: exit 1 if no night has finished for this long: 26h, 90m, 2d"},
    {.name = "--note", .value = "TEXT", .help = "retry, review send-back: a note for the generator's next attempt"},
    {.name = "--plan", .value = "FILE", .help = "add: the plan (default: nightly.toml)"},
    {.name = "--id", .value = "ID", .help = "add: the task's id (default: made from its words)"},
    {.name = "--after",
        .value = "ID",
        .help = "add: run it after this task, and only if that one is accepted",
        .repeats = true},
    {.name = "--task-kind",
        .value = "KIND",
        .help = "add: test (default) or any, as in `guard gate`",
        .choices = kTaskKinds},
    {.name = "--output", .value = "FILE", .help = "report: write the page there"},
    {.name = "--at", .value = "HH:MM", .help = "install: when the night starts (default: 02:00)"},
    {.name = "--user", .help = "install: units of this user, in ~/.config/systemd/user; uninstall: remove those"},
    kConfig,
    kRules,
    {.name = "--format",
        .value = "FORMAT",
        .help = "text or json; report: also md and html",
        .choices = kNightlyFormats},
    kColor,
    {.name = "--quiet", .help = "run, resume: print only the result"},
};
constexpr std::array<std::string_view, 2> kBriefFormats = {"markdown", "json"};
constexpr OptionRow kBriefOptions[] = {{.name = "--format",
                                           .value = "FORMAT",
                                           .help = "markdown, or json: one document on standard output",
                                           .choices = kBriefFormats},
    kProject, kConfig, kRules};
constexpr OptionRow kCleanOptions[] = {kFormat, kProject, kDryRun};

constexpr std::string_view kCheckStatus =
    "0 no findings; 1 findings; 2 undecided (unreadable or no files, bad rules or configuration);\n"
    "3 only host findings, and the state of the container engine is unknown; 64 usage";
constexpr std::string_view kRunStatus =
    "0 allowed: all tests ran and passed; 1 rejected; 2 undecided: evidence is missing;\n"
    "3 no environment may be used; 64 usage; 130 interrupted, 143 terminated";
constexpr std::string_view kExecStatus =
    "0 the command exited with 0; 1 it did not, or a limit or signal ended it; 2 undecided: the outcome is unknown;\n"
    "3 no environment may be used; 64 usage; 130 interrupted, 143 terminated";
constexpr std::string_view kPlainStatus = "0 done, 2 failed, 64 usage";

constexpr VerbRow kVerbs[] = {
    {.verb = Verb::check,
        .name = "check",
        .summary = "check files against the rules, without running them",
        .usage = "check PATH...\ncheck --staged\ncheck -\ncheck",
        .about = "Matches TypeScript and JavaScript against guard's rules. Folders are searched recursively. Files are "
                 "checked together with\n"
                 "what they import, since a leak can be split between two files. Without PATH, checks what [check] "
                 "paths in guard.toml\n"
                 "lists. A finding can be waived in guard.toml; --print-waiver prints the entry.",
        .options = kCheckOptions,
        .examples = "guard check sandbox/\nguard check --staged --format json\nguard check --format sarif sandbox/ > "
                    "guard.sarif\nguard check --explain sandbox/a.test.ts:12\ngenerate | guard check - --stdin-name "
                    "sandbox/new.test.ts",
        .exit_status = kCheckStatus},
    {.verb = Verb::gate,
        .name = "gate",
        .summary = "check a change: what it touches and what it adds",
        .usage =
            "gate [--base REV]\ngate --base REV --head REV\ngate --staged [--base REV]\ngate --patch FILE [--base REV]",
        .about = "Applies three checks. Policy: number of files and lines, allowed paths, no links, binaries or mode "
                 "changes, nothing that\n"
                 "configures git, CI, agents or tools ([policy] in guard.toml). Secrets: no banned pattern on any "
                 "added line. Rules: everything\n"
                 "that `guard check` looks for, in files under [check] paths. Without options it checks the "
                 "uncommitted changes: the work tree\n"
                 "against HEAD, with new files, without those that .gitignore of HEAD excludes. The two trees are "
                 "compared directly; if the base\n"
                 "has moved on, name the merge base. guard.toml is read from the base. docs/gate.md lists what is "
                 "refused and why.",
        .options = kGateOptions,
        .examples =
            "guard gate\nguard gate --staged --task-kind any\nguard gate --base main --head topic --format json\n"
            "guard gate --patch change.diff --base v1.2\ngenerate | guard gate --patch -",
        .exit_status =
            "0 allowed; 1 findings; 2 undecided (nothing changed, no such revision, a patch that does not apply, bad "
            "rules or\n"
            "configuration); 3 only host findings, and the state of the container engine is unknown; 64 usage"},
    {.verb = Verb::run,
        .name = "run",
        .summary = "check tests, run them in a sandbox, and decide",
        .usage = "run [FILE|FOLDER...]",
        .about = "Checks the files, then runs exactly what was checked with `bun test` in a sandbox. Secrets in the "
                 "output are masked. A pass\n"
                 "needs evidence that the tests of every file ran. Without arguments, all tests of the project run.",
        .options = kRunOptions,
        .examples = "guard run sandbox/*.test.ts\nguard run --collect all sandbox/*.test.ts\nguard run --backend "
                    "namespace --timeout 60 sandbox/sum.test.ts\nguard "
                    "run --env TZ=UTC --format json sandbox/\nguard run --jobs 4 --record evidence/ sandbox/",
        .exit_status = kRunStatus},
    {.verb = Verb::exec,
        .name = "exec",
        .summary = "run any command in the same sandbox, unchecked",
        .usage = "exec [OPTION...] -- COMMAND ARGUMENT...",
        .about = "The command is started directly, not by a shell, and guard's image has none: only bun, the C library "
                 "and the project's\n"
                 "packages. Limits, masking and clean-up are those of `guard run`.",
        .options = kExecOptions,
        .examples =
            "guard exec -- bun --version\nguard exec --memory 512m -- bun -e 'console.log(process.memoryUsage().rss)'",
        .exit_status = kExecStatus,
        .placement = Placement::behind_dashes},
    {.verb = Verb::image,
        .name = "image",
        .summary = "build, list or remove the images that tests run on",
        .usage = "image build\nimage list\nimage prune [--all [--force]] [--dry-run]",
        .about = "Tests run on an image made of this machine's bun and C library and the project's locked "
                 "dependencies. Its tag is a digest\n"
                 "of those contents, so a stale image is never used. `prune` removes the images that this project used "
                 "and no longer needs;\n"
                 "--all lists those of every project, and --force removes them. An image that some project's lockfile "
                 "needs is kept. Images\n"
                 "unused for image.unused_days are removed by the next build.",
        .options = kImageOptions,
        .examples = "guard image build\nguard image list --format json\nguard image prune --dry-run",
        .exit_status = "0 done, 2 failed, 3 dependencies or engine are missing, 64 usage"},
    {.verb = Verb::rules,
        .name = "rules",
        .summary = "list, explain or test the rules",
        .usage =
            "rules list\nrules show ID\nrules check [DIR]\nrules views FILE\nrules doc\nrules diff OLD NEW [PATH...]",
        .about = "`show` explains one rule with examples. `check` runs the examples of every rule through both "
                 "matching engines; DIR is a folder\n"
                 "of your own rules. `views` shows how rules read a file, `doc` prints the page docs/rules.md. "
                 "docs/writing-rules.md explains\n"
                 "how to write a rule. `diff` lists the lines of your files that NEW refuses and OLD doesn't; each is "
                 "a folder of rules,\n"
                 "such as rules/ of another release, or the word built-in.",
        .options = kRulesOptions,
        .examples = "guard rules list\nguard rules show always.env_dump\nguard rules check my-rules/\nguard rules diff "
                    "../guard-1.0/rules built-in src/",
        .exit_status = "0 done, 1 diff: lines are newly refused, 2 failed, or a rule fails its examples; 64 usage"},
    {.verb = Verb::doctor,
        .name = "doctor",
        .summary = "report what works on this machine, and how to fix what doesn't",
        .usage = "doctor",
        .about = "Checks configuration, rules, engine, embedded sandbox, bun and image. Changes nothing.",
        .options = kDoctorOptions,
        .examples = "guard doctor\nguard doctor --format json",
        .exit_status = "0 tests can run here, 2 failed, 3 no environment may be used, 64 usage"},
    {.verb = Verb::config,
        .name = "config",
        .summary = "show every setting and its source",
        .usage = "config show",
        .about = "Precedence, lowest first: default, guard.toml, GUARD_<SECTION>_<KEY> in the environment, options. "
                 "guard.toml is searched for\n"
                 "from the current folder up to the repository's root, but not in the sandbox folder.",
        .options = kConfigOptions,
        .examples = "guard config show\nguard config show --config ci/guard.toml --format json",
        .exit_status = kPlainStatus},
    {.verb = Verb::init,
        .name = "init",
        .summary = "report what guard finds here, and write a commented guard.toml",
        .usage = "init",
        .about = "Reports the tests, their runner and packages, and what won't work. guard.toml gets every key with "
                 "its default, commented out;\n"
                 "check.paths is set if the tests are not in sandbox/.",
        .options = kInitOptions,
        .examples = "guard init\nguard init --project ../other --force",
        .exit_status = kPlainStatus},
    {.verb = Verb::brief,
        .name = "brief",
        .summary = "print what a generator has to know to write code for this project",
        .usage = "brief",
        .about =
            "Where it may write, what tests see, how they are judged, what the rules refuse and what to write instead, "
            "and an example.\n"
            "Put it into a prompt, CLAUDE.md or AGENTS.md. Nights put it in front of the first prompt of each task.",
        .options = kBriefOptions,
        .examples = "guard brief\nguard brief --project ../other --format json",
        .exit_status = kPlainStatus},
    {.verb = Verb::redact,
        .name = "redact",
        .summary = "mask secrets in a stream",
        .usage = "redact [FILE...]",
        .about = "The filter that guard applies to the output of tests, for any other output. Keys, tokens and known "
                 "values become\n"
                 "[REDACTED:kind].",
        .options = kRedactOptions,
        .examples = "make test 2>&1 | guard redact\nguard redact --stats --mask-env DEPLOY_KEY build.log",
        .exit_status = "0 done, 2 failed: output that may contain secrets was withheld, 64 usage"},
    {.verb = Verb::hook,
        .name = "hook",
        .summary = "check every commit, and what a coding agent is about to write",
        .usage = "hook install\nhook uninstall\nhook status\nhook agent\nhook agent --install AGENT [--yes]",
        .about = "`install` adds a pre-commit hook that runs `guard check --staged`, and blocks commits when guard is "
                 "missing. Existing hooks\n"
                 "are kept. `agent` reads one event of a coding agent from standard input (a file to write, a command "
                 "to run) and answers in\n"
                 "the agent's format. `agent --install` puts the settings for that into the project, and the output of "
                 "`guard brief` into the\n"
                 "agent's file of instructions.",
        .options = kHookOptions,
        .examples = "guard hook install\nguard hook status --format json\nguard hook agent --install claude --yes",
        .exit_status =
            "install, uninstall: 0 done, 2 failed; status: 0 installed, 1 absent, outdated or foreign, 2 failed;\n"
            "agent: 0 allowed, 2 denied, for whatever reason; agent --install: 0 up to date, 1 not written yet, 2 "
            "failed; 64 usage"},
    {.verb = Verb::verify,
        .name = "verify",
        .summary = "check an evidence record against the project",
        .usage = "verify RECORD",
        .about = "A run can write a record of what ran, where, under which limits, and the result (--record, [run] "
                 "record). verify checks that\n"
                 "the record is unchanged and consistent, and that the project's files, guard.toml, guard, its rules, "
                 "the image and bun are\n"
                 "still the same. It confirms the record, not that the run was allowed: the verdict is in its first "
                 "line. Anyone who can write\n"
                 "to the record can forge a consistent one; keep its digest where they can't write.",
        .options = kVerifyOptions,
        .examples =
            "guard run --record evidence/ sandbox/*.test.ts\nguard verify evidence/20300131T120000Z-r0123456789.json\n"
            "guard verify --project ../other --format json record.json",
        .exit_status = "0 confirmed; 1 something differs, or the record was changed; 2 unreadable, or not everything "
                       "could be checked; 64 usage"},
    {.verb = Verb::nightly,
        .name = "nightly",
        .summary = "let a generator work through a plan, and keep what passes",
        .usage = "nightly run PLAN.toml\nnightly resume\nnightly status\nnightly stop\nnightly report\n"
                 "nightly review [take|drop|send-back TASK...]\nnightly add TEXT...\nnightly list\nnightly retry "
                 "TASK...\nnightly drop TASK...\nnightly plan PLAN.toml\nnightly install PLAN.toml\nnightly uninstall",
        .about = "`run` gives each task of the plan to its generator (any program that reads a prompt from standard "
                 "input) in its own clone,\n"
                 "gates the change, runs its tests in the sandbox, checks that new tests detect broken code, and "
                 "commits what was allowed to a\n"
                 "branch of the night. What was refused goes back to the generator with the findings, as often as the "
                 "plan allows. After a\n"
                 "crash, `resume` continues. `report` is the morning page; `review` takes, drops or sends back what "
                 "was accepted. `plan` checks\n"
                 "a plan without running it; `install` schedules it. docs/nightly.md has the format and recipes.\n"
                 "The plan is a queue across nights: tasks that were accepted, dropped or given up are skipped the "
                 "next time. `list` shows the\n"
                 "state of each task, `add` appends one, `retry` runs one again with your note for its generator, and "
                 "`run --again` runs all.",
        .options = kNightlyOptions,
        .examples =
            "guard nightly plan nightly.toml\nguard nightly run nightly.toml\nguard nightly status --max-age 26h\n"
            "guard nightly report --format html --output morning.html\nguard nightly review take add-negative\n"
            "guard nightly retry add-negative --note \"use smaller numbers\"\n"
            "guard nightly add \"test that parse() refuses an empty text\" --after add-negative",
        .exit_status = "run, resume: 0 every task accepted, 1 every task decided, some refused or failed, 2 some "
                       "undecided or guard failed,\n"
                       "3 no environment may be used; status: 0, with --max-age 1 if a night is overdue; others: 0 "
                       "done, 2 failed;\n"
                       "64 usage; 130 interrupted, 143 terminated"},
    {.verb = Verb::clean,
        .name = "clean",
        .summary = "remove leftovers of killed runs",
        .usage = "clean [--project DIR] [--dry-run]",
        .about = "Removes containers, processes and folders of runs whose guard process is gone, also in the project, "
                 "the folder of records and\nthe temporary folder. Running ones are kept.",
        .options = kCleanOptions,
        .examples = "guard clean --dry-run\nguard clean",
        .exit_status = kPlainStatus},
    {.verb = Verb::audit,
        .name = "audit",
        .summary = "report what guard would have refused in the past",
        .usage = "audit [--since REV] [--run]",
        .about = "Replays commits through the checks of the pre-commit hook, with the guard.toml of HEAD, and lists "
                 "those that would have been\n"
                 "refused, and by which rules. Merges and the first commit are left out. Nothing is changed. "
                 "docs/adoption.md has the rest.",
        .options = kAuditOptions,
        .examples = "guard audit\nguard audit --since v1.2 --task-kind any --format json\nguard audit --run",
        .exit_status = "0 all allowed, 1 some refused, 2 some undecided, or failed; 64 usage"},
    {.verb = Verb::generate,
        .name = "generate",
        .summary = "print the manual page or a shell's completions",
        .usage = "generate man\ngenerate bash\ngenerate zsh\ngenerate fish",
        .about = "`cmake --install` puts them where man and the shells look. To try completions in a running shell: "
                 "source <(guard generate bash).",
        .options = {},
        .examples = "guard generate man | man -l -\nguard generate fish > ~/.config/fish/completions/guard.fish",
        .exit_status = "0 done, 64 usage"},
};

std::string indented(std::string_view lines, std::string_view before) {
  std::string text;
  for (std::size_t at = 0; at <= lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    text += fmt::format("{}{}\n", before, lines.substr(at, end - at));
    at = end + 1;
  }
  return text;
}

std::string option_lines(std::span<const OptionRow> rows) {
  constexpr std::size_t kColumn = 22;
  std::string text;
  for (const auto& row : rows) {
    const std::string name =
        row.short_name.empty() ? std::string(row.name) : fmt::format("{}, {}", row.short_name, row.name);
    const std::string left = row.value.empty() ? name : fmt::format("{} {}", name, row.value);
    text += fmt::format("  {:<{}} {}", left, kColumn, row.help);
    if (!row.config_keys.empty()) text += fmt::format(" [{}]", row.config_keys);
    text += '\n';
  }
  return text + fmt::format("  {:<{}} {}\n", "--help", kColumn, "this text");
}

std::string verb_lines() {
  std::string text;
  for (const auto& row : kVerbs) text += fmt::format("  {:<8} {}\n", row.name, row.summary);
  return text;
}

}  // namespace

std::span<const VerbRow> verbs() { return kVerbs; }

const VerbRow* find_verb(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kVerbs), std::end(kVerbs), [&](const VerbRow& row) { return row.name == name; });
  return found == std::end(kVerbs) ? nullptr : found;
}

std::string help_text(const VerbRow& row) {
  return fmt::format("guard {}: {}\n\nUsage:\n{}\n{}\n\nOptions:\n{}\nExamples:\n{}\nExit status:\n{}", row.name,
      row.summary, indented(row.usage, "  guard "), row.about, option_lines(row.options), indented(row.examples, "  "),
      indented(row.exit_status, "  "));
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
