#include "cli/verbs.h"

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
constexpr OptionRow kReportFormat = {
    .name = "--format",
    .value = "FORMAT",
    .help = "text, json, sarif (code scanning), junit (CI servers) or github (annotations of its Actions)",
    .choices = kReportFormats};
constexpr OptionRow kColor = {.name = "--color",
                              .value = "WHEN",
                              .help = "auto (on a terminal, unless NO_COLOR is set), always or never",
                              .choices = kColors};
constexpr OptionRow kQuiet = {.name = "--quiet", .help = "no progress, only results"};
constexpr OptionRow kConfig = {.name = "--config", .value = "FILE", .help = "this guard.toml instead of the project's"};
constexpr OptionRow kRules = {
    .name = "--rules", .value = "DIR", .help = "the rules of this folder instead of those that guard brings"};
constexpr OptionRow kProject = {
    .name = "--project", .value = "DIR", .help = "the project's folder, instead of the current one"};
constexpr OptionRow kMaskEnv = {.name = "--mask-env",
                                .value = "NAME,..",
                                .help = "also mask the values of these variables",
                                .repeats = true,
                                .config_keys = "redact.mask_env"};

constexpr OptionRow kCheckOptions[] = {
    {.name = "--staged", .help = "judge what `git commit` would commit now, under [check] paths"},
    {.name = "--mode",
     .value = "MODE",
     .help = "the place that the rules are chosen for: auto, docker, host or namespace",
     .choices = kModes},
    {.name = "--stdin-name", .value = "NAME", .help = "the name that standard input goes by (default stdin.ts)"},
    {.name = "--allow-empty", .help = "no files at all is a pass"},
    {.name = "--jobs", .value = "N", .help = "threads that look at files (default: one for each processor)"},
    {.name = "--no-ignore", .help = "look at files that .gitignore leaves out, too (gated and named ones always are)"},
    {.name = "--explain",
     .value = "PATH[:LINE]",
     .help = "how guard reads this line, and why each rule did or did not fire; PATHs are judged with it"},
    {.name = "--print-waiver", .help = "print a waiver for each finding that can be waived, to be pasted into guard.toml"},
    kReportFormat,
    kColor,
    kConfig,
    kRules,
};

constexpr OptionRow kGateOptions[] = {
    {.name = "--base", .value = "REV", .help = "what the change is compared with, and whose guard.toml holds (default HEAD)"},
    {.name = "--head", .value = "REV", .help = "judge this commit; needs --base"},
    {.name = "--staged", .help = "judge the index: what `git commit` would commit now"},
    {.name = "--patch", .value = "FILE", .help = "judge what the base would be with this patch; - reads standard input"},
    {.name = "--task-kind",
     .value = "KIND",
     .help = "test (default): lockfiles, manifests, build and hidden files are untouchable; any: other tasks",
     .choices = kTaskKinds},
    {.name = "--mode",
     .value = "MODE",
     .help = "the place that the rules are chosen for: auto, docker, host or namespace",
     .choices = kModes},
    {.name = "--allow-empty", .help = "a change of nothing is a pass"},
    kReportFormat,
    kColor,
    kConfig,
    kRules,
};

// The first rows are for `run` alone.
constexpr OptionRow kRunOptions[] = {
    {.name = "--jobs",
     .value = "N",
     .help = "each file in a sandbox of its own, N at a time, under one budget (default: one for all)"},
    {.name = "--watch", .help = "run again whenever a file that the run saw is changed"},
    {.name = "--file-timeout", .value = "SECONDS", .help = "how long one file may take; the others are run all the same", .config_keys = "run.file_timeout"},
    {.name = "--collect",
     .value = "MODE",
     .help = "which files come back that passing tests wrote: none, listed (collect_paths) or all",
     .choices = kCollects,
     .config_keys = "run.collect"},
    {.name = "--backend",
     .value = "NAME",
     .help = "auto, docker, namespace, host or container-use; all rules that its mode needs still apply",
     .choices = kBackends},
    {.name = "--timeout",
     .value = "SECONDS",
     .help = "how long it may take",
     .config_keys = "docker.timeout namespace.timeout host.timeout container_use.timeout"},
    {.name = "--memory", .value = "BYTES", .help = "memory, 512m or 2g", .config_keys = "limits.memory"},
    {.name = "--cpus", .value = "N", .help = "processors, 1.5 say", .config_keys = "limits.cpus"},
    {.name = "--pids", .value = "N", .help = "processes and threads", .config_keys = "limits.pids"},
    {.name = "--image", .value = "REF", .help = "the image of the container", .config_keys = "docker.image"},
    {.name = "--env",
     .value = "NAME[=VALUE]",
     .help = "a variable for the sandbox, masked in the output; without a value guard's own",
     .repeats = true},
    kMaskEnv,
    kProject,
    kReportFormat,
    {.name = "--record",
     .value = "FILE|FOLDER",
     .help = "write the evidence of this run there (docs/evidence.md), instead of where [run] record says"},
    {.name = "--quiet", .help = "no progress, only results"},
    kColor,
    kConfig,
    kRules,
};

constexpr std::span<const OptionRow> kExecOptions = std::span(kRunOptions).subspan(4);

constexpr OptionRow kDryRun = {.name = "--dry-run", .help = "only say what would be removed"};
constexpr OptionRow kImageOptions[] = {
    {.name = "--engine", .help = "only the image in the container engine"},
    {.name = "--root-folder", .help = "only the root folder of the embedded sandbox"},
    {.name = "--all", .help = "both; with prune: images of every project that no project needs any more"},
    {.name = "--force", .help = "with prune --all: remove them"},
    kDryRun,
    kProject,
    kConfig,
    kFormat,
};

constexpr OptionRow kRulesOptions[] = {kFormat, kColor};
constexpr OptionRow kDoctorOptions[] = {kFormat, kColor, kProject, kConfig};
constexpr OptionRow kConfigOptions[] = {kFormat, kProject, kConfig};
constexpr OptionRow kInitOptions[] = {kProject, {.name = "--force", .help = "replace a guard.toml that is there"}};
constexpr OptionRow kRedactOptions[] = {
    {.name = "--cap",
     .value = "BYTES",
     .help = "let out no more than this, 80k say; the rest is dropped and counted (default 0: no cap)"},
    {.name = "--keep",
     .value = "WHAT",
     .help = "what a cap keeps: head, or both (half of it the beginning, half the end)",
     .choices = kKeeps},
    {.name = "--stats", .help = "at the end, say on standard error what was masked how often"},
    {.name = "--format",
     .value = "FORMAT",
     .help = "of what --stats says: text or json",
     .choices = kFormats},
    kMaskEnv,
    {.name = "--mask-file",
     .value = "FILE,..",
     .help = "also mask the values in these files, one a line",
     .repeats = true,
     .config_keys = "redact.mask_file"},
    kConfig,
};
constexpr OptionRow kHookOptions[] = {
    kProject,
    {.name = "--mode",
     .value = "MODE",
     .help = "agent: the place that the rules are chosen for, as for `guard check`",
     .choices = kModes},
    kConfig,
    kRules,
    kFormat,
};
constexpr OptionRow kVerifyOptions[] = {kProject, kConfig, kRules, kFormat};
constexpr std::string_view kNightlyFormats[] = {"text", "json", "md", "html"};
constexpr OptionRow kNightlyOptions[] = {
    kProject,
    {.name = "--state", .value = "FOLDER", .help = "where journal, evidence and outputs are kept (default: ~/.local/state/guard, or GUARD_STATE_DIR)"},
    {.name = "--night", .value = "ID", .help = "resume, status, report, review: which night, in place of the newest"},
    {.name = "--resume", .help = "run: go on with an unfinished night of the same plan, if there is one"},
    {.name = "--again", .help = "run: run the tasks that are decided, too"},
    {.name = "--max-age", .value = "SPAN", .help = "status: exit 1 where no night came to its end for this long: 26h, 90m, 2d"},
    {.name = "--note", .value = "TEXT", .help = "retry, review send-back: what the generator is told the next time"},
    {.name = "--output", .value = "FILE", .help = "report: write the page there"},
    {.name = "--at", .value = "HH:MM", .help = "install: when the night begins (default: 02:00)"},
    {.name = "--user", .help = "install: units of this user, in ~/.config/systemd/user"},
    kConfig,
    kRules,
    {.name = "--format", .value = "FORMAT", .help = "text or json; report: md and html, too", .choices = kNightlyFormats},
    kColor,
    {.name = "--quiet", .help = "run, resume: no lines for tasks, only the result"},
};
constexpr std::array<std::string_view, 2> kBriefFormats = {"markdown", "json"};
constexpr OptionRow kBriefOptions[] = {{.name = "--format", .value = "FORMAT", .help = "markdown, or json: one document on standard output", .choices = kBriefFormats},
                                       kProject, kConfig, kRules};
constexpr OptionRow kCleanOptions[] = {kFormat, kProject, kDryRun};

constexpr std::string_view kCheckStatus =
    "0 no finding, 1 findings, 2 could not decide (unreadable, no files, bad rules or configuration),\n"
    "3 host-only findings decide and the state of the container engine is unknown; 64 usage";
constexpr std::string_view kRunStatus =
    "0 allowed: all tests shown to have run and passed; 1 rejected; 2 undecided: the proof is missing;\n"
    "3 no environment may be used; 64 usage; 130 interrupted, 143 terminated";
constexpr std::string_view kExecStatus =
    "0 the command exited with 0; 1 it did not, or a limit or signal ended it; 2 undecided: what happened is not known;\n"
    "3 no environment may be used; 64 usage; 130 interrupted, 143 terminated";
constexpr std::string_view kPlainStatus = "0 done, 2 it failed, 64 usage";

constexpr VerbRow kVerbs[] = {
    {.verb = Verb::check,
     .name = "check",
     .summary = "judge files without running them",
     .usage = "check PATH...\ncheck --staged\ncheck -\ncheck",
     .about = "Matches TypeScript and JavaScript against guard's rules. Folders are walked. A file is judged with what\n"
              "it imports: one half of a leak may stand in another file than the other half. Without a PATH, what "
              "[check] paths\n"
              "in guard.toml says is judged. Findings may be waived in guard.toml; --print-waiver writes what to put there.",
     .options = kCheckOptions,
     .examples = "guard check sandbox/\nguard check --staged --format json\nguard check --format sarif sandbox/ > "
                 "guard.sarif\nguard check --explain sandbox/a.test.ts:12\ngenerate | guard check - --stdin-name "
                 "sandbox/new.test.ts",
     .exit_status = kCheckStatus},
    {.verb = Verb::gate,
     .name = "gate",
     .summary = "judge a change: what it touches, and what it adds",
     .usage = "gate [--base REV]\ngate --base REV --head REV\ngate --staged [--base REV]\ngate --patch FILE [--base REV]",
     .about = "Three questions at once. What does it touch: how many files and lines, which places, no links, binaries, modes, nothing\n"
              "that git, CI, agents or tools obey ([policy] in guard.toml). What does it add: no banned pattern on any added line. What do\n"
              "its files under [check] paths do: all that `guard check` looks for. Without options all that is not committed is judged: the\n"
              "work tree against HEAD, new files included, except those that .gitignore files of HEAD leave out. The two trees are\n"
              "compared as they are; for a branch that its base has left behind, name the merge base. guard.toml is the one of the base.\n"
              "docs/gate.md says what is refused and why.",
     .options = kGateOptions,
     .examples = "guard gate\nguard gate --staged --task-kind any\nguard gate --base main --head topic --format json\n"
                 "guard gate --patch change.diff --base v1.2\ngenerate | guard gate --patch -",
     .exit_status = "0 allowed, 1 findings, 2 could not decide (nothing changed, no such revision, a patch that does not apply, bad\n"
                    "rules or configuration), 3 host-only findings decide and the state of the container engine is unknown; 64 usage"},
    {.verb = Verb::run,
     .name = "run",
     .summary = "check tests, run them in a sandbox, give a verdict",
     .usage = "run FILE|FOLDER...",
     .about = "The files are checked first; what was checked, and nothing else, is run by `bun test` where it can do "
              "no harm. Output\n"
              "is masked. A pass needs a report that shows that every file's tests ran.",
     .options = kRunOptions,
     .examples = "guard run sandbox/*.test.ts\nguard run --collect all sandbox/*.test.ts\nguard run --backend namespace --timeout 60 sandbox/sum.test.ts\nguard "
                 "run --env TZ=UTC --format json sandbox/\nguard run --jobs 4 --record evidence/ sandbox/",
     .exit_status = kRunStatus},
    {.verb = Verb::exec,
     .name = "exec",
     .summary = "run any command in the same sandbox, without the check",
     .usage = "exec [OPTION...] -- COMMAND ARGUMENT...",
     .about =
         "No shell stands between, and the image that guard builds holds none: only bun, the C library and the project's\n"
         "packages. Limits, masking and clean-up are those of `guard run`.",
     .options = kExecOptions,
     .examples = "guard exec -- bun --version\nguard exec --memory 512m -- bun -e 'console.log(process.memoryUsage().rss)'",
     .exit_status = kExecStatus,
     .placement = Placement::behind_dashes},
    {.verb = Verb::image,
     .name = "image",
     .summary = "build, list or remove what tests run on",
     .usage = "image build\nimage list\nimage prune [--all [--force]] [--dry-run]",
     .about = "Tests run on an image made of this machine's bun and C library and the project's locked dependencies. "
              "Its tag is made\n"
              "from those contents: a stale image is never taken for a fresh one. `prune` removes those that this project has\n"
              "used and needs no more; with --all it lists those of every project, which --force removes. What the lockfile of\n"
              "any project still needs stays. Images that nobody has used for image.unused_days go at the next build.",
     .options = kImageOptions,
     .examples = "guard image build\nguard image list --format json\nguard image prune --dry-run",
     .exit_status = "0 done, 2 it failed, 3 dependencies or engine are missing, 64 usage"},
    {.verb = Verb::rules,
     .name = "rules",
     .summary = "list, explain or prove the rules",
     .usage = "rules list\nrules show ID\nrules check [DIR]\nrules views FILE\nrules doc",
     .about = "`check` runs the examples of every rule through both engines; with DIR, those of a folder of your own. `views` shows\n"
              "what rules see of a file, `doc` writes the page docs/rules.md. docs/writing-rules.md teaches how to write a rule.",
     .options = kRulesOptions,
     .examples = "guard rules list\nguard rules show always.env_dump\nguard rules check my-rules/",
     .exit_status = "0 done, 1 a rule fails its examples, 2 it failed, 64 usage"},
    {.verb = Verb::doctor,
     .name = "doctor",
     .summary = "say what works on this machine, and how to mend what does not",
     .usage = "doctor",
     .about =
         "Asks the engine, the embedded sandbox, bun and the image, changes nothing, and ends with what to do next.",
     .options = kDoctorOptions,
     .examples = "guard doctor\nguard doctor --format json",
     .exit_status = "0 tests can be run here, 2 it failed, 3 no environment may be used, 64 usage"},
    {.verb = Verb::config,
     .name = "config",
     .summary = "show every setting and where it comes from",
     .usage = "config show",
     .about = "Default, then guard.toml, then GUARD_<SECTION>_<KEY> in the environment, then options: the last word "
              "wins. guard.toml is\n"
              "looked for from here up to the repository's root, and never in the sandbox folder.",
     .options = kConfigOptions,
     .examples = "guard config show\nguard config show --config ci/guard.toml --format json",
     .exit_status = kPlainStatus},
    {.verb = Verb::init,
     .name = "init",
     .summary = "say what is found here, and write a commented guard.toml",
     .usage = "init",
     .about = "Says which tests there are, what they ask for, and what will not work. In guard.toml every key stands with its default,\n"
              "commented out, but for check.paths where the tests lie elsewhere than in sandbox/.",
     .options = kInitOptions,
     .examples = "guard init\nguard init --project ../other --force",
     .exit_status = kPlainStatus},
    {.verb = Verb::brief,
     .name = "brief",
     .summary = "say what a generator has to know to write code for this project",
     .usage = "brief",
     .about = "Where it may write, what its tests see and are held to, what the rules refuse and what to write instead, and an example.\n"
              "For the front of a prompt, or for CLAUDE.md or AGENTS.md. A night puts it in front of the first prompt of each task.",
     .options = kBriefOptions,
     .examples = "guard brief\nguard brief --project ../other --format json",
     .exit_status = kPlainStatus},
    {.verb = Verb::redact,
     .name = "redact",
     .summary = "hide secrets in a stream",
     .usage = "redact [FILE...]",
     .about = "The filter that program output goes through, for any other output: keys, tokens, known values become "
              "[REDACTED:kind].",
     .options = kRedactOptions,
     .examples = "make test 2>&1 | guard redact\nguard redact --stats --mask-env DEPLOY_KEY build.log",
     .exit_status = "0 done, 2 it failed: what could not be proved clean was withheld, 64 usage"},
    {.verb = Verb::hook,
     .name = "hook",
     .summary = "stand in the way of commits, and of what a coding agent writes",
     .usage = "hook install\nhook uninstall\nhook status\nhook agent",
     .about = "`install` puts a pre-commit hook where git looks for it; it runs `guard check --staged`, and blocks the commit where\n"
              "guard cannot be found. Hooks of others are left alone. `agent` reads one event of a coding agent on standard input (a\n"
              "file to be written, a command to be run) and answers in the agent's form; docs/hooks.md has the settings.",
     .options = kHookOptions,
     .examples = "guard hook install\nguard hook status --format json\nguard hook agent --project ../other",
     .exit_status = "install, uninstall: 0 done, 2 it failed; status: 0 installed, 1 absent, outdated or foreign, 2 it failed;\n"
                    "agent: 0 go on, 2 do not, for whatever reason; 64 usage"},
    {.verb = Verb::verify,
     .name = "verify",
     .summary = "check an evidence record, and whether it still fits the project",
     .usage = "verify RECORD",
     .about = "Every run can leave a record of what ran, on what, under which limits, and what came of it (--record, [run] record).\n"
              "verify says, a line each: is the record as it was written; does it contradict itself; are the project's files, guard.toml,\n"
              "guard, its rules, the image and bun still what they were. It says that the record holds, not that the run was allowed:\n"
              "the verdict stands in its first line. Whoever may write to the record can forge one that fits everywhere;\n"
              "keep its digest where he may not write.",
     .options = kVerifyOptions,
     .examples = "guard run --record evidence/ sandbox/*.test.ts\nguard verify evidence/20300131T120000Z-r0123456789.json\n"
                 "guard verify --project ../other --format json record.json",
     .exit_status = "0 all of it holds, 1 something differs, or the record was changed; 2 it cannot be read, or not everything could be\n"
                    "checked; 64 usage"},
    {.verb = Verb::nightly,
     .name = "nightly",
     .summary = "let a generator work through a plan of tasks, and keep only what was shown to hold",
     .usage = "nightly run PLAN.toml\nnightly resume\nnightly status\nnightly stop\nnightly report\n"
              "nightly review [take|drop|send-back TASK...]\nnightly list\nnightly retry TASK...\nnightly drop TASK...\nnightly plan PLAN.toml\nnightly install PLAN.toml",
     .about = "`run` gives each task of the plan to its generator (any program that reads a prompt on standard input) in a clone of its own,\n"
              "judges what it changed (guard gate), runs the tests in the sandbox, asks whether they are worth anything, and commits what was\n"
              "allowed to a branch of the night. What was refused goes back to the generator with the findings, as often as the plan allows.\n"
              "Killed at any moment, `resume` goes on where it was. `report` is the page for the morning, `review` takes, drops or sends back\n"
              "what was accepted, `plan` checks a plan without running it, `install` makes it run every night. docs/nightly.md has the plan's\n"
              "format and recipes.\n"
              "The plan is a queue across nights: what was accepted, dropped, or refused after all its attempts is skipped the next time. `list`\n"
              "shows the standing of each task, `retry` runs one again, with your note for its generator, and `run --again` runs all.",
     .options = kNightlyOptions,
     .examples = "guard nightly plan nightly.toml\nguard nightly run nightly.toml\nguard nightly status --max-age 26h\n"
                 "guard nightly report --format html --output morning.html\nguard nightly review take add-negative\n"
                 "guard nightly retry add-negative --note \"use smaller numbers\"",
     .exit_status = "run, resume: 0 every task accepted, 1 every task decided, some refused or failed, 2 some undecided or guard failed,\n"
                    "3 no environment may be used; status: 0, with --max-age 1 when a night is overdue; others: 0 done, 2 it failed;\n"
                    "64 usage; 130 interrupted, 143 terminated"},
    {.verb = Verb::clean,
     .name = "clean",
     .summary = "remove what killed runs left behind",
     .usage = "clean [--project DIR] [--dry-run]",
     .about = "Containers, processes and folders of runs whose guard is gone, and what it left in the project, the folder of\nrecords and the temporary folder. Those of living runs are not touched.",
     .options = kCleanOptions,
     .examples = "guard clean --dry-run\nguard clean",
     .exit_status = kPlainStatus},
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
    const std::string left = row.value.empty() ? std::string(row.name) : fmt::format("{} {}", row.name, row.value);
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

std::span<const VerbRow> verbs() {
  return kVerbs;
}

const VerbRow* find_verb(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kVerbs), std::end(kVerbs), [&](const VerbRow& row) { return row.name == name; });
  return found == std::end(kVerbs) ? nullptr : found;
}

std::string help_text(const VerbRow& row) {
  return fmt::format("guard {}: {}\n\nUsage:\n{}\n{}\n\nOptions:\n{}\nExamples:\n{}\nExit status:\n{}", row.name,
                     row.summary, indented(row.usage, "  guard "), row.about, option_lines(row.options),
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
