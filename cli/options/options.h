// The command line as typed. Nothing is read or opened here: `--help` touches nothing, and what the options mean
// together with guard.toml is Config's business.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/streams.h"
#include "common/enum_names.h"
#include "common/time.h"
#include "pipeline/config/config.h"
#include "runner/import/debian_image.h"
#include "sessions/trace/catalogue.h"
#include "validator/change/change_policy.h"

namespace guard {

struct VerbRow;

enum class OutputFormat : std::uint8_t { text, json, sarif, junit, github, markdown, html };
enum class ImageTarget : std::uint8_t { automatic, engine, root_folder, all };
enum class ExitCode : std::uint8_t { guard, program };  // whose `guard exec` ends with
// What a cap of `guard redact` leaves.
enum class Kept : std::uint8_t { head, both };
// The second word of `guard image build` and its like; `take` and `send_back` are the third of `guard nightly review`.
enum class Action : std::uint8_t {
  none,
  build,
  list,
  prune,
  show,
  check,
  views,
  doc,
  diff,
  install,
  uninstall,
  status,
  agent,
  run,
  resume,
  stop,
  report,
  review,
  add,
  retry,
  drop,
  plan,
  supervise,
  work,
  size,
  export_,
  take,
  send_back,
  man,
  bash,
  zsh,
  fish,
  open,
  exec,
  upload,
  download,
  ls,
  close,
  stats,
  log,
  commands,
  port,
  watch,
  import_image,
  remove,
  get
};

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<ColorChoice> = {"auto", "always", "never"};
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<ExitCode> = {"guard", "program"};
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<Kept> = {"head", "both"};
template <>
inline constexpr std::array<std::string_view, 7> kNamesOf<OutputFormat> = {
    "text", "json", "sarif", "junit", "github", "md", "html"};
template <>
inline constexpr std::array<std::string_view, 46> kNamesOf<Action> = {"", "build", "list", "prune", "show", "check",
    "views", "doc", "diff", "install", "uninstall", "status", "agent", "run", "resume", "stop", "report", "review",
    "add", "retry", "drop", "plan", "supervise", "work", "size", "export", "take", "send-back", "man", "bash", "zsh",
    "fish", "open", "exec", "upload", "download", "ls", "close", "stats", "log", "commands", "port", "watch", "import",
    "remove", "get"};

// --network: nothing is let through, and what was asked for is printed.
inline constexpr std::string_view kRecordNetwork = "record";

// Everything that can be said: a verb, its action and arguments, and a member for each option of verbs.cc, with what
// holds where the option is not given. A verb reads what its own options fill.
struct Options {
  const VerbRow* verb = nullptr;
  Action action = Action::none;
  std::vector<std::string> arguments;  // paths, files, a command, ids: what stands beside options and action

  // What most verbs have.
  OutputFormat format = OutputFormat::text;
  ColorChoice color = ColorChoice::automatic;
  std::string project;
  std::string config;
  std::string rules;
  std::string mode = "auto";  // auto, docker, host, namespace
  bool quiet = false;
  // Values of the configuration, known to be good: --timeout, --memory, --env, --mask-env and others.
  std::vector<ConfigOverride> overrides;

  // check, gate, audit
  bool read_stdin = false;  // `-`; with neither that, `staged` nor arguments: what [check] paths says
  std::string stdin_name = "stdin.ts";
  bool staged = false;
  bool allow_empty = false;
  bool no_ignore = false;
  bool print_waiver = false;
  bool write_baseline = false;
  bool no_baseline = false;
  std::string explain;             // the file of --explain PATH[:LINE]; empty: not asked for
  std::uint32_t explain_line = 0;  // 0: all of it
  std::string base;                // a revision; empty: HEAD
  std::string head;                // a revision; with neither that, `staged` nor `patch`: the work tree
  std::string patch;               // a file, or "-"
  std::optional<TaskKind> kind;    // gate, nightly add: a test where nothing is said; audit: then no policy
  std::string since;               // a revision; empty: the newest commits
  bool run_tests = false;          // of each commit, too

  // run, exec
  std::optional<Backend> backend;  // nothing: auto
  bool record_network = false;     // --network record
  bool network_log = false;
  ExitCode exit_code = ExitCode::guard;
  std::string cwd;                  // a folder of the project; empty: the project
  std::string input;                // a file, or "-"; empty: nothing to read
  std::vector<std::string> writes;  // folders of the project
  std::string out_file;             // takes the command's standard output as it is
  std::string err_file;
  std::vector<std::string> env_files;
  std::string record;     // a file or folder; empty: what [run] record says
  unsigned jobs = 0;      // check: threads; run: sandboxes side by side; 0: not given
  std::string test_name;  // empty: all tests
  bool watch = false;
  bool coverage = false;
  std::string lcov;  // a file

  // image, init, clean
  ImageTarget target = ImageTarget::automatic;
  std::optional<ImageTemplate> image_template;  // build; nothing: the project's image
  std::vector<std::string> packages;
  bool dry_run = false;
  bool force = false;

  // session
  bool acads = false;  // in place of a sandbox of this machine: a session pool at Azure
  bool background = false;
  bool tty = false;
  bool recursive = false;
  std::string socket;          // a path instead of that
  bool remove = false;         // the workspace, too
  milliseconds time_limit{0};  // 0: none

  // serve
  std::string listen;      // an address of the loopback; empty: only the socket. session port: or `socket`
  std::string token_file;  // empty: in the state folder
  std::string log_file;    // "-": standard error; empty: no log
  bool print = false;      // install: the units, instead of writing them

  // mcp
  std::string tenant = "mcp";  // of all sessions
  std::string client;          // install: whose settings
  std::string trace;           // serve, too: "-": standard error; empty: none
  std::string otlp;            // the same: a collector's URL

  // artifacts: of serve and mcp; nothing: no catalogue, or what the catalogue says
  std::optional<sessions::Keep> keep_artifacts;
  std::optional<std::uint64_t> artifact_bytes_max;   // of one
  std::optional<std::uint64_t> artifacts_bytes_max;  // of all
  std::string session;                               // empty: of all

  // redact
  std::uint64_t cap_bytes = 0;  // 0: no cap
  Kept kept = Kept::head;
  bool stats = false;  // --format json asks for them, too

  // hook agent
  std::string agent;  // whose settings are to be written; empty: an event is to be answered
  bool yes = false;

  // nightly
  std::string plan = "nightly.toml";  // of `add`; the others name it as an argument
  std::string id;                     // add; empty: made from the prompt
  std::vector<std::string> after;     // add
  std::string night;                  // empty: the newest
  std::string state;
  std::string note;
  std::uint64_t tasks = 0;    // size: 0: as many as there were
  std::uint64_t workers = 0;  // size: 0: several numbers
  std::string scratch;        // work: empty: the temporary folder
  std::string key;            // work: for ssh-keygen; empty: results are not signed
  std::string output;         // report: a file instead of standard output
  std::string at = "02:00";
  bool user = false;                       // units of this user
  bool go_on = false;                      // an unfinished night of the same plan first
  bool again = false;                      // tasks that are decided, too
  std::optional<std::uint64_t> max_age_s;  // status; artifacts
};

// Nothing to be run: help, the version, or a mistake on the command line.
struct Answer {
  std::string out = {};
  std::string err = {};
  int exit_status = 0;
};

using ParsedCommand = std::variant<Options, Answer>;

// `arguments` without the program's own name.
ParsedCommand parse_command_line(std::span<const std::string_view> arguments);
ParsedCommand parse_command_line(int argc, const char* const* argv);

}  // namespace guard
