// How a run is put together from three calls of the program:
//
//   cu environment create --source DIR --title T --json                  {"environment_id": "..."}
//   cu environment run --id ID --source DIR --command "exec env -i sh ./.guard-run"
//   cu environment delete --id ID --source DIR
//
// DIR is the staged tree in the run's private folder. The command's standard output is that of `environment run`, so it
// carries init's framed stream; what else comes there breaks the stream and the run. Nothing is known of the command's
// standard input, so init goes without a life line: it ends when its stream has no reader any more, or by its own
// clock.
#include "runner/sandbox/container_use_sandbox.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/file_io.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "runner/init_side/init_binary.h"
#include "runner/init_side/init_stream.h"
#include "runner/process/shell_quote.h"
#include "runner/process/subprocess.h"

namespace guard {
namespace {

constexpr std::string_view kName = "container-use";
constexpr std::string_view kInitInEnvironment = "./.guard-init";
constexpr std::string_view kCommandFile = ".guard-run";
constexpr std::string_view kCommand = "exec env -i sh ./.guard-run";
constexpr std::size_t kIdBytesMax = 128;
constexpr std::size_t kWordsBytesMax = 4096;
// One JSON object, or a version; whoever says more is not asked for the rest.
constexpr std::uint64_t kAnswerBytesMax = 1u << 20;
constexpr milliseconds kToolGrace{5'000};
// Init has had its grace by then, and its last frames are on their way.
constexpr milliseconds kFrameSlack{2'000};

// What programs of this kind look at to find an engine and their own files.
constexpr std::array kPassedOn = {"HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT",
    "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"};

std::string shown(std::string_view words) {
  if (words.size() > kWordsBytesMax) words.remove_prefix(words.size() - kWordsBytesMax);
  while (!words.empty() && words.back() == '\n') words.remove_suffix(1);
  return printable(words);
}

Error creation_failed(std::string message, std::string_view said = {}) {
  return Error(ErrorCode::environment_creation_failed, std::move(message)).detail("stderr", shown(said));
}

Error unavailable(std::string message, std::string remedy) {
  return Error(ErrorCode::environment_unavailable, std::move(message))
      .detail("environmentType", std::string(kName))
      .hint(std::move(remedy));
}

// Keeps what was said up to a limit; beyond it the program is ended.
class BoundedSink final : public ByteSink {
 public:
  Result<void> push(std::span<const char> bytes) override {
    if (text.size() + bytes.size() > kAnswerBytesMax) {
      return Error(ErrorCode::protocol_error, fmt::format("it printed more than {} bytes", kAnswerBytesMax));
    }
    text.append(bytes.data(), bytes.size());
    return ok();
  }
  Result<void> finish() override { return ok(); }
  std::string text;
};

// The end of what cu itself says while the command runs.
class TailSink final : public ByteSink {
 public:
  explicit TailSink(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
  Result<void> push(std::span<const char> bytes) override {
    seen_ += bytes.size();
    if (seen_ > bytes_max_) return Error(ErrorCode::protocol_error, "cu does not stop complaining");
    text.append(bytes.data(), bytes.size());
    if (text.size() > kWordsBytesMax) text.erase(0, text.size() - kWordsBytesMax);
    return ok();
  }
  Result<void> finish() override { return ok(); }
  std::string text;

 private:
  std::uint64_t bytes_max_;
  std::uint64_t seen_ = 0;
};

// Hands init's frames on, and ends the run where the first of them does not show a sandbox.
class FrameSink final : public ByteSink {
 public:
  explicit FrameSink(InitStream& init) : init_(init) {}
  Result<void> push(std::span<const char> bytes) override {
    GUARD_TRY(init_.push(bytes));
    if (init_.hello_seen() && !checked_) {
      checked_ = true;
      GUARD_TRY(check_environment(init_.hello()));
    }
    // An error is how a sink ends the run; the caller asks flooded() first.
    if (init_.flooded()) return Error(ErrorCode::execution_failed, "more output than the flood limit");
    return ok();
  }
  Result<void> finish() override { return ok(); }

 private:
  InitStream& init_;
  bool checked_ = false;
};

struct Answer {
  Outcome outcome;
  std::string out;
  std::string err;
};

struct Found {
  std::string program;  // empty: not to be had, for the reason that follows
  ProbeState state = ProbeState::unknown;
  std::string reason;
};

Found look_at(const std::filesystem::path& program) {
  struct stat found {};
  if (::stat(program.c_str(), &found) != 0) {
    const int number = errno;
    const bool absent = number == ENOENT || number == ENOTDIR;
    return {{}, absent ? ProbeState::absent : ProbeState::unknown,
        Error::from_errno(ErrorCode::environment_unavailable, printable(program.native()), number).message()};
  }
  if (!S_ISREG(found.st_mode) || ::access(program.c_str(), X_OK) != 0) {
    return {{}, ProbeState::unknown, fmt::format("{} is no program that can be run", printable(program.native()))};
  }
  return {program.string(), ProbeState::available, {}};
}

Found find_program(const ContainerUseOptions& options) {
  if (!options.program.empty()) {
    Found found = look_at(options.program);
    // Somebody says that it is there.
    if (found.state == ProbeState::absent) found.state = ProbeState::unknown;
    return found;
  }
  for (const auto& folder : options.folders) {
    Found found = look_at(folder / "cu");
    if (found.state != ProbeState::absent) return found;
  }
  return {{}, ProbeState::absent, "there is no cu program in the folders of the system"};
}

class ContainerUseSandbox final : public Sandbox {
 public:
  explicit ContainerUseSandbox(ContainerUseOptions options) : options_(std::move(options)) {}
  std::string_view name() const noexcept override { return kName; }
  SandboxProbe probe(Deadline deadline) const override;
  Result<ExecResult> run(const SandboxSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel) override;

 private:
  ProcessSpec process(
      const std::string& program, std::vector<std::string> words, Deadline deadline, milliseconds grace) const;
  Result<Answer> ask(const std::string& program, std::vector<std::string> words, Deadline deadline, milliseconds grace,
      const CancelToken& cancel, std::string* said = nullptr) const;
  Result<std::string> create(const std::string& program, const SandboxSpec& spec, const CancelToken& cancel) const;
  Result<void> remove(const std::string& program, const SandboxSpec& spec, const std::string& id) const;
  Result<ExecResult> run_in(const std::string& program, const SandboxSpec& spec, const std::string& id, ByteSink& out,
      ByteSink& err, const CancelToken& cancel) const;

  ContainerUseOptions options_;
};

ProcessSpec ContainerUseSandbox::process(
    const std::string& program, std::vector<std::string> words, Deadline deadline, milliseconds grace) const {
  ProcessSpec spec;
  spec.argv = std::move(words);
  spec.argv.insert(spec.argv.begin(), program);
  spec.cwd = "/";
  for (const char* name : kPassedOn) {
    if (const auto found = options_.environment.find(name); found != options_.environment.end())
      spec.env.insert(*found);
  }
  spec.env["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  spec.deadline = deadline;
  spec.grace = grace;
  return spec;
}

// `said`: gets what it printed, whatever became of it.
Result<Answer> ContainerUseSandbox::ask(const std::string& program, std::vector<std::string> words, Deadline deadline,
    milliseconds grace, const CancelToken& cancel, std::string* said) const {
  BoundedSink out;
  BoundedSink err;
  auto ended = run_process(process(program, std::move(words), deadline, grace), out, err, cancel);
  if (said != nullptr) *said = out.text;
  if (!ended) return std::move(ended).error().detail("stderr", shown(err.text));
  return Answer{std::move(ended->outcome), std::move(out.text), std::move(err.text)};
}

SandboxProbe ContainerUseSandbox::probe(Deadline deadline) const {
  SandboxProbe probe;
  const Found found = find_program(options_);
  probe.state = found.state;
  probe.reason = found.reason;
  probe.remedy = found.state == ProbeState::absent
      ? "install container-use, name its program in container_use.program, or use another backend"
      : "look at the cu program (`cu --version`), name another one in container_use.program, or use "
        "another backend";
  if (found.program.empty()) return probe;
  probe.endpoint = found.program;
  probe.state = ProbeState::unknown;
  const CancelToken never;
  const auto answer = ask(found.program, {"--version"}, deadline, milliseconds(0), never);
  if (!answer) {
    probe.reason = fmt::format("`cu --version` failed: {}", answer.error().message());
  } else if (answer->outcome.kind == OutcomeKind::timed_out) {
    probe.reason = "`cu --version` did not end in time";
  } else if (answer->outcome.kind != OutcomeKind::exited || answer->outcome.value != 0) {
    probe.reason = fmt::format("`cu --version` ended with {} {}: {}", to_string(answer->outcome.kind),
        answer->outcome.value, shown(answer->err));
  } else {
    probe.state = ProbeState::available;
    probe.version = shown(std::string_view(answer->out).substr(0, std::min<std::size_t>(answer->out.find('\n'), 80)));
    probe.reason = "the cu program answers";
    probe.remedy.clear();
  }
  return probe;
}

// A fault here may leave an environment behind that nobody knows: whatever id was printed is deleted.
Result<std::string> ContainerUseSandbox::create(
    const std::string& program, const SandboxSpec& spec, const CancelToken& cancel) const {
  std::string said;
  const auto answer = ask(program,
      {"environment", "create", "--source", spec.host_folder.string(), "--title", "guard-" + spec.run_id, "--json"},
      Deadline::after(options_.create_limit), kToolGrace, cancel, &said);
  auto id = created_environment_id(said);
  const auto failed = [&](Error error) -> Error {
    if (!id) return error;
    if (auto removed = remove(program, spec, *id); !removed) return std::move(error).context(removed.error().message());
    return error;
  };
  if (!answer) {
    const auto words = answer.error().details().find("stderr");
    return failed(creation_failed(fmt::format("`cu environment create` failed: {}", answer.error().message()),
        words == answer.error().details().end() ? std::string_view() : words->second));
  }
  switch (answer->outcome.kind) {
    case OutcomeKind::cancelled: return failed(Error(ErrorCode::cancelled, "stopped while an environment was made"));
    case OutcomeKind::timed_out:
      return failed(creation_failed(
          fmt::format("`cu environment create` did not end within {} s", options_.create_limit.count() / 1000),
          answer->err));
    default: break;
  }
  if (answer->outcome.kind != OutcomeKind::exited || answer->outcome.value != 0) {
    return failed(creation_failed(
        fmt::format("`cu environment create` ended with {} {}", to_string(answer->outcome.kind), answer->outcome.value),
        answer->err));
  }
  if (!id) return std::move(id).error().detail("stderr", shown(answer->err));
  return id;
}

Result<void> ContainerUseSandbox::remove(
    const std::string& program, const SandboxSpec& spec, const std::string& id) const {
  const CancelToken never;  // what was begun is ended in order, also after a cancel
  const auto answer = ask(program, {"environment", "delete", "--id", id, "--source", spec.host_folder.string()},
      Deadline::after(options_.delete_limit), kToolGrace, never);
  if (answer && answer->outcome.kind == OutcomeKind::exited && answer->outcome.value == 0) return ok();
  const std::string why = !answer ? answer.error().message()
      : answer->outcome.kind == OutcomeKind::timed_out
      ? "it did not end in time"
      : fmt::format(
            "it ended with {} {}: {}", to_string(answer->outcome.kind), answer->outcome.value, shown(answer->err));
  return Error(
      ErrorCode::execution_failed, fmt::format("container-use: the environment {} could not be deleted: {}", id, why));
}

Result<ExecResult> ContainerUseSandbox::run_in(const std::string& program, const SandboxSpec& spec,
    const std::string& id, ByteSink& out, ByteSink& err, const CancelToken& cancel) const {
  InitStream init(out, err, spec.limits.output_flood_bytes, spec.report);
  init.expect_programs(spec.each.size(), spec.program_ended);
  FrameSink frames(init);
  TailSink complaints(spec.limits.output_flood_bytes);
  const auto began = SteadyClock::now();
  const auto wanted = process(program,
      {"environment", "run", "--id", id, "--source", spec.host_folder.string(), "--command", std::string(kCommand)},
      Deadline::after(spec.timeout), spec.grace + kFrameSlack);
  auto ended = run_process(wanted, frames, complaints, cancel);
  ExecResult result;
  result.wall = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - began);
  if (init.flooded()) {
    result.outcome = {OutcomeKind::output_flood, static_cast<std::int64_t>(spec.limits.output_flood_bytes), {}};
  } else if (!ended) {
    Error error = std::move(ended).error();
    // Before the first frame it is cu that speaks, or what it started instead of our command.
    if (!init.hello_seen() && !init.exit_seen())
      return creation_failed(fmt::format("`cu environment run` failed: {}", error.message()), complaints.text);
    return std::move(error).detail("stderr", shown(complaints.text));
  } else if (ended->outcome.kind == OutcomeKind::cancelled) {
    result.outcome = {OutcomeKind::cancelled, cancel.signal_number(), {}};
  } else if (ended->outcome.kind == OutcomeKind::timed_out) {
    // Where nothing was seen of the command, the time-out is not the tests' own.
    if (!init.hello_seen())
      return creation_failed(
          fmt::format("`cu environment run` had started nothing after {} s", spec.timeout.count() / 1000),
          complaints.text);
    result.outcome = {OutcomeKind::timed_out, spec.timeout.count(), {}};
  } else {
    if (!init.hello_seen() && !init.exit_seen()) {
      return creation_failed(fmt::format("`cu environment run` ended with {} {} and ran nothing",
                                 to_string(ended->outcome.kind), ended->outcome.value),
          complaints.text);
    }
    if (auto whole = init.finish(); !whole) return std::move(whole).error().detail("stderr", shown(complaints.text));
    GUARD_TRY_ASSIGN(result.outcome, outcome_of(*init.exit(), TermSent::no, spec.timeout));
    // Init ends with 0 whatever the program did: it has told that in its last frame.
    if (ended->outcome.kind != OutcomeKind::exited || ended->outcome.value != 0) {
      return Error(ErrorCode::protocol_error,
          fmt::format("the init ended in order, but `cu environment run` ended with {} {}",
              to_string(ended->outcome.kind), ended->outcome.value))
          .detail("stderr", shown(complaints.text));
    }
  }
  init.take_into(result);
  // What an earlier run has left there may be another init, or other tests.
  if (!options_.environment_id.empty()) result.seen_inside["shared_environment"] = "1";
  result.enforced_by = {
      {"memory", "none"},
      {"swap", "none"},
      {"pids", "none"},
      {"cpus", "none"},
      {"tmp_size", "none"},
      {"tmp_files", "none"},
      {"tmp_noexec", "none"},
      {"sandbox_size", "none"},
      {"sandbox_files", "none"},
      {"open_files", "rlimit"},
      {"file_size", "rlimit"},
      {"output", "guard"},
      {"time", "guard"},
      {"network", "none"},
      {"files", "none"},
      {"syscalls", "none"},
  };
  return result;
}

// In a file, because a command line can be read by every user of the machine and the environment may hold secrets, and
// because one argument has an end and a list of tests has none.
bool is_shell_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name.front()) &&
      std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::string command_text(const SandboxSpec& spec) {
  std::string text;
  for (const auto& [name, value] : spec.env) text += fmt::format("export {}\n", shell_line({name + "=" + value}));
  return text + "exec " + shell_line(init_command(kInitInEnvironment, spec, {.no_life_line = true})) + "\n";
}

Result<ExecResult> ContainerUseSandbox::run(
    const SandboxSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  GUARD_TRY(validate(spec));
  if (spec.collect)
    return Error(
        ErrorCode::input_invalid, "an environment of container-use has no folder of its own to collect files from");
  if (spec.require_cgroups) {
    return unavailable("limits of memory and processes can't be enforced in an environment of container-use",
        "drop `require_cgroups`, or use another backend");
  }
  for (const auto& [name, value] : spec.env) {
    if (is_shell_name(name)) continue;
    return Error(ErrorCode::input_invalid,
        fmt::format("a shell can't pass on an environment variable called \"{}\"", printable(name)));
  }
  struct stat folder {};
  if (spec.host_folder.empty() || ::stat(spec.host_folder.c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode)) {
    return Error(ErrorCode::input_invalid,
        fmt::format("container-use needs a source folder; \"{}\" is none", spec.host_folder.string()));
  }
  if (!options_.environment_id.empty() && !is_environment_id(options_.environment_id)) {
    return Error(ErrorCode::input_invalid, "container_use.env_id is no id of an environment");
  }
  const Found found = find_program(options_);
  if (found.program.empty())
    return unavailable(found.reason, "install container-use, or name its program in container_use.program");
  if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped before the run began");
  GUARD_TRY(write_new_file(spec.host_folder / kInitInEnvironment, init_binary(), 0755).context("staging guard's init"));
  GUARD_TRY(write_new_file(spec.host_folder / kCommandFile, command_text(spec), 0444).context("staging the command"));

  std::string id = options_.environment_id;
  if (id.empty()) {
    GUARD_TRY_ASSIGN(id, create(found.program, spec, cancel));
  }
  auto result = run_in(found.program, spec, id, out, err, cancel);
  if (!options_.environment_id.empty()) return result;
  const auto removed = remove(found.program, spec, id);
  if (removed) return result;
  if (!result) return std::move(result).context(removed.error().message());
  result->notes.push_back(removed.error().message());
  return result;
}

}  // namespace

bool is_environment_id(std::string_view text) noexcept {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
        c == '/' || c == '-';
  };
  return !text.empty() && text.size() <= kIdBytesMax && text.front() != '-' &&
      std::all_of(text.begin(), text.end(), is_plain);
}

Result<std::string> created_environment_id(std::string_view printed) {
  const auto document = parse_json(printed);
  if (!document || !document->is_object())
    return creation_failed("`cu environment create` did not answer with a JSON object");
  const auto id = document->find("environment_id");
  if (id == document->end() || !id->is_string())
    return creation_failed("`cu environment create` named no environment_id");
  if (!is_environment_id(id->get_ref<const std::string&>())) {
    return creation_failed(
        fmt::format("`cu environment create` named an id that is none: {}", shown(id->get_ref<const std::string&>())));
  }
  return id->get<std::string>();
}

Result<void> check_environment(const std::map<std::string, std::string>& hello) {
  GUARD_TRY(check_confinement(hello));
  const auto says = [&hello](const char* key, std::string_view value) {
    const auto found = hello.find(key);
    return found != hello.end() && found->second == value;
  };
  if (!says("pid", "1"))
    return not_confined("guard's init is not PID 1 inside, so others there may write into its stream");
  // On other backends what was checked is mounted read-only; here the environment has to see to it.
  if (!says("sources_writable", "0"))
    return not_confined("the tests could change the checked files that they run from");
  return ok();
}

std::unique_ptr<Sandbox> make_container_use_sandbox(ContainerUseOptions options) {
  return std::make_unique<ContainerUseSandbox>(std::move(options));
}

}  // namespace guard
