// The command line as typed. Nothing is read or opened here: `--help` touches nothing, and what the options mean
// together with guard.toml is Config's business.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/streams.h"
#include "pipeline/config/config.h"
#include "validator/change/change_policy.h"

namespace guard {

// The last three are reports of findings, for `check` and `run` only.
enum class OutputFormat : std::uint8_t { text, json, sarif, junit, github };

// guard check
struct CheckOptions {
  std::vector<std::string> paths;  // empty with neither `staged` nor `read_stdin`: what [check] paths says
  bool read_stdin = false;         // `-`
  bool staged = false;
  std::string mode = "auto";  // auto, docker, host, namespace
  OutputFormat format = OutputFormat::text;
  std::string stdin_name = "stdin.ts";
  bool allow_empty = false;
  unsigned jobs = 0;  // threads; 0: as many as there are processors
  bool no_ignore = false;
  bool print_waiver = false;
  bool write_baseline = false;
  bool no_baseline = false;
  std::string explain;             // the file of --explain PATH[:LINE]; empty: not asked for
  std::uint32_t explain_line = 0;  // 0: all of it
  ColorChoice color = ColorChoice::automatic;
  std::string config;  // --config
  std::string rules;   // --rules
};

// guard gate. With none of `head`, `staged` and `patch`: the work tree.
struct GateOptions {
  std::string base;  // a revision; empty: HEAD
  std::string head;  // a revision
  bool staged = false;
  std::string patch;  // a file, or "-"
  TaskKind kind = TaskKind::test;
  std::string mode = "auto";
  OutputFormat format = OutputFormat::text;
  bool allow_empty = false;
  ColorChoice color = ColorChoice::automatic;
  std::string config;
  std::string rules;
};

// What `guard run` and `guard exec` share.
struct SandboxOptions {
  std::optional<Backend> backend;  // --backend NAME; nothing: auto
  OutputFormat format = OutputFormat::text;
  std::string project;
  std::string config;
  std::string rules;
  ColorChoice color = ColorChoice::automatic;
  bool quiet = false;
  std::string record;  // --record: a file or folder; empty: what [run] record says
  // --collect (run alone), --timeout, --memory, --cpus, --pids, --image, --env, --mask-env; values are already known to
  // be good.
  std::vector<ConfigOverride> overrides;
};

struct RunOptions {
  SandboxOptions sandbox;
  unsigned jobs = 1;  // sandboxes side by side, where there are as many files
  bool watch = false;
  std::string test_name;  // -t; empty: all tests
  bool coverage = false;
  std::string lcov;  // --lcov: a file
  std::vector<std::string> files;
};

struct ExecOptions {
  SandboxOptions sandbox;
  std::vector<std::string> argv;
};

enum class ImageAction : std::uint8_t { build, list, prune };
enum class ImageTarget : std::uint8_t { automatic, engine, root_folder, all };
struct ImageOptions {
  ImageAction action = ImageAction::list;
  ImageTarget target = ImageTarget::automatic;  // --engine, --root-folder, --all
  bool dry_run = false;                         // prune
  bool force = false;                           // prune --all
  std::string project;
  std::string config;
  OutputFormat format = OutputFormat::text;
};

enum class RulesAction : std::uint8_t { list, show, check, views, doc, diff };
struct RulesOptions {
  RulesAction action = RulesAction::list;
  std::string id;         // show
  std::string folder;     // check; empty: the rules that are shipped
  std::string file;       // views
  std::string old_rules;  // diff: a folder, or "built-in"
  std::string new_rules;
  std::vector<std::string> paths;  // diff; empty: all below the current folder
  OutputFormat format = OutputFormat::text;
  ColorChoice color = ColorChoice::automatic;
};

struct DoctorOptions {
  OutputFormat format = OutputFormat::text;
  std::string project = {};
  std::string config = {};
  ColorChoice color = ColorChoice::automatic;
};

struct ConfigOptions {  // guard config show
  OutputFormat format = OutputFormat::text;
  std::string project = {};
  std::string config = {};
};

struct InitOptions {
  std::string project = {};
  bool force = false;
};

struct RedactOptions {
  std::vector<std::string> files;  // empty: standard input; "-" stands for it, too
  std::optional<std::uint64_t> cap_bytes;
  bool keep_both = false;
  bool stats = false;  // --format json asks for them, too
  OutputFormat format = OutputFormat::text;
  std::string config;
  std::vector<ConfigOverride> overrides;  // --mask-env, --mask-file
};

enum class HookAction : std::uint8_t { install, uninstall, status, agent };
struct HookOptions {
  HookAction action = HookAction::status;
  std::string project;        // empty: the current folder
  std::string mode = "auto";  // of `agent`, as for `guard check`
  std::string config;         // of `agent`
  std::string rules;          // of `agent`
  std::string install;        // of `agent`: whose settings are to be written; empty: an event is to be answered
  bool yes = false;           // of --install: write them
  OutputFormat format = OutputFormat::text;
};

struct VerifyOptions {
  std::string record;
  std::string project;
  std::string config;
  std::string rules;
  OutputFormat format = OutputFormat::text;
};

enum class NightlyAction : std::uint8_t {
  run,
  resume,
  plan,
  status,
  stop,
  report,
  list,
  review,
  take,
  drop,
  send_back,
  add,
  install,
  uninstall,
  supervise
};
// `text` and `json` for most; the report has two more.
enum class NightlyFormat : std::uint8_t { text, markdown, html, json };
struct NightlyOptions {
  NightlyAction action = NightlyAction::status;
  std::string plan;                // run, plan, install, add
  std::vector<std::string> tasks;  // take, drop, send_back: also `drop` and `retry`; add: the prompt's words, or "-"
  std::string id;                  // add; empty: made from the prompt
  TaskKind kind = TaskKind::test;  // add
  std::vector<std::string> after;  // add
  std::vector<std::string> argv;   // supervise: what guard starts itself for
  std::string night;               // --night; empty: the newest
  std::string project;             // --project: a folder of the repository
  std::string state;               // --state
  std::string config;
  std::string rules;
  std::string note;                        // send_back
  std::string output;                      // report: a file instead of standard output
  std::string at = "02:00";                // install
  bool user = false;                       // install: units of this user
  bool go_on = false;                      // run --resume: an unfinished night of the same plan first
  bool again = false;                      // run: tasks that are decided, too
  std::optional<std::uint64_t> max_age_s;  // status
  NightlyFormat format = NightlyFormat::text;
  ColorChoice color = ColorChoice::automatic;
  bool quiet = false;
  std::vector<ConfigOverride> overrides;  // --backend
};

struct BriefOptions {
  OutputFormat format = OutputFormat::text;  // Markdown, or json
  std::string project = {};
  std::string config = {};
  std::string rules = {};
};

struct CleanOptions {
  OutputFormat format = OutputFormat::text;
  std::string project = {};
  bool dry_run = false;
};

// guard audit
struct AuditOptions {
  std::string since;             // a revision; empty: the newest commits
  std::optional<TaskKind> kind;  // judge by [policy], too, as for tasks of this kind
  bool run = false;              // run the tests of each commit, too
  std::string mode = "auto";
  OutputFormat format = OutputFormat::text;
  ColorChoice color = ColorChoice::automatic;
  std::string config = {};
  std::string rules = {};
};

// Nothing to be run: help, the version, or a mistake on the command line.
struct Answer {
  std::string out = {};
  std::string err = {};
  int exit_status = 0;
};

using ParsedCommand = std::variant<CheckOptions, GateOptions, RunOptions, ExecOptions, ImageOptions, RulesOptions,
    DoctorOptions, ConfigOptions, InitOptions, BriefOptions, RedactOptions, HookOptions, VerifyOptions, NightlyOptions,
    CleanOptions, AuditOptions, Answer>;

// `arguments` without the program's own name.
ParsedCommand parse_command_line(std::span<const std::string_view> arguments);
ParsedCommand parse_command_line(int argc, const char* const* argv);

}  // namespace guard
