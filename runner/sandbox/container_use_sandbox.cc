// A run is three calls of the program:
//
//   cu environment create --source DIR --title T --json                  {"environment_id": "..."}
//   cu environment run --id ID --source DIR --command "exec env -i sh ./.guard-run"
//   cu environment delete --id ID --source DIR
//
// DIR is the staged tree. The standard output of `environment run` is that of the command, so it carries init's framed
// stream; anything else there breaks the stream and the run. Nothing is known of the command's standard input, so init
// has no life line: it ends when its stream has no reader, or by its own clock.
//
// The program itself can't be had where guard is built: the tests run against a script (tests/container_use/cu.sh).
#include "runner/sandbox/container_use_sandbox.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
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

constexpr std::string_view kInitInEnvironment = "./.guard-init";
constexpr std::string_view kCommandFile = ".guard-run";
constexpr std::string_view kInstall = "install container-use, or name its program in container_use.program";
constexpr std::size_t kIdBytesMax = 128;
constexpr std::size_t kShownBytesMax = 4096;
constexpr std::uint64_t kAnswerBytesMax = 1u << 20;  // one JSON object, or a version
constexpr milliseconds kToolGrace{5'000};
constexpr milliseconds kFrameSlack{2'000};  // for init's last frames, after its own grace

// What programs of this kind look at to find an engine and their own files.
constexpr std::array kPassedOn = {"HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT",
    "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"};

std::string shown(std::string_view words) {
  if (words.size() > kShownBytesMax) words.remove_prefix(words.size() - kShownBytesMax);
  while (!words.empty() && words.back() == '\n') words.remove_suffix(1);
  return printable(words);
}

Error creation_failed(std::string message, std::string_view said = {}) {
  return Error(ErrorCode::environment_creation_failed, std::move(message)).detail("stderr", shown(said));
}

Error unavailable(std::string message, std::string_view remedy) {
  return Error(ErrorCode::environment_unavailable, std::move(message))
      .detail("environmentType", "container-use")
      .hint(std::string(remedy));
}

// Hands init's frames on, and ends the run where the first of them does not show a sandbox.
class FrameSink final : public ByteSink {
 public:
  explicit FrameSink(InitStream& init) : init_(init) {}
  Result<void> push(std::span<const char> bytes) override {
    GUARD_TRY(init_.push(bytes));
    if (init_.hello_seen() && !std::exchange(checked_, true)) GUARD_TRY(check_environment(init_.hello()));
    // An error is how a sink ends the run; the caller asks flooded() first.
    if (init_.flooded()) return Error(ErrorCode::execution_failed, "more output than the flood limit");
    return ok();
  }
  Result<void> finish() override { return ok(); }

 private:
  InitStream& init_;
  bool checked_ = false;
};

// The end of what cu itself says while the command runs.
class TailSink final : public ByteSink {
 public:
  Result<void> push(std::span<const char> bytes) override {
    text.append(bytes.data(), bytes.size());
    if (text.size() > kShownBytesMax) text.erase(0, text.size() - kShownBytesMax);
    return ok();
  }
  Result<void> finish() override { return ok(); }
  std::string text;
};

// What one call came to. `fault`: why it is no success, behind the name of the call; empty: it exited with 0.
struct Answer {
  std::string fault;
  CollectedProcess said;
};

std::string fault_of(const Result<ProcessResult>& ended) {
  if (!ended) return "failed: " + ended.error().message();
  const Outcome& outcome = ended->outcome;
  if (outcome.kind == OutcomeKind::timed_out) return "did not end in time";
  if (outcome.kind == OutcomeKind::exited && outcome.value == 0) return {};
  return fmt::format("ended with {} {}", to_string(outcome.kind), outcome.value);
}

// In a file, because a command line can be read by every user of the machine and the environment may hold secrets, and
// because one argument has an end and a list of tests has none.
std::string command_text(const SandboxSpec& spec) {
  std::string text;
  for (const auto& [name, value] : spec.env)
    text += fmt::format("export {}\n", shell_line({fmt::format("{}={}", name, value)}));
  return text + fmt::format("exec {}\n", shell_line(init_command(kInitInEnvironment, spec, {.no_life_line = true})));
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_shell_name(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) &&
      std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

class ContainerUseSandbox final : public Sandbox {
 public:
  explicit ContainerUseSandbox(ContainerUseOptions options) : options_(std::move(options)) {}
  std::string_view name() const noexcept override { return "container-use"; }

  SandboxProbe probe(Deadline deadline) const override {
    SandboxProbe probe = find_program();
    if (probe.state != ProbeState::available) return probe;
    const CancelToken never;
    const Answer answer = ask({"--version"}, deadline, milliseconds(0), never);
    probe.reason = "it answers; whether it has the design note's `environment` commands shows when one is made";
    probe.version = shown(answer.said.out.substr(0, std::min<std::size_t>(answer.said.out.find('\n'), 80)));
    if (answer.fault.empty()) return probe;
    probe.state = ProbeState::unknown;
    probe.reason = fmt::format("`cu --version` {}: {}", answer.fault, shown(answer.said.err));
    probe.remedy =
        "look at the cu program (`cu --version`), name another one in container_use.program, or use another "
        "backend";
    return probe;
  }

  Result<ExecResult> run(const SandboxSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel) override;

 private:
  // Available with the program as `endpoint`, or why there is none.
  SandboxProbe find_program() const {
    SandboxProbe probe;
    probe.state = ProbeState::absent;
    probe.reason = "there is no cu program in the folders of the system";
    probe.remedy = kInstall;
    std::vector<std::filesystem::path> places = {options_.program};
    if (options_.program.empty()) places = options_.folders;
    for (std::filesystem::path place : places) {
      if (options_.program.empty()) place /= "cu";
      struct stat found {};
      const bool there = ::stat(place.c_str(), &found) == 0;
      // One that somebody names is not absent, whatever the system says.
      if (!there && options_.program.empty() && (errno == ENOENT || errno == ENOTDIR)) continue;
      probe.endpoint = place.string();
      if (there && S_ISREG(found.st_mode) && ::access(place.c_str(), X_OK) == 0) {
        probe.state = ProbeState::available;
        probe.remedy.clear();
        return probe;
      }
      probe.state = ProbeState::unknown;
      probe.reason = fmt::format("{} is no program that can be run", printable(place.native()));
      return probe;
    }
    return probe;
  }

  ProcessSpec process(std::vector<std::string> words, Deadline deadline, milliseconds grace) const {
    ProcessSpec spec;
    spec.argv = std::move(words);
    spec.argv.insert(spec.argv.begin(), find_program().endpoint);
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

  Answer ask(std::vector<std::string> words, Deadline deadline, milliseconds grace, const CancelToken& cancel) const {
    auto said = collect_process(process(std::move(words), deadline, grace), kAnswerBytesMax, cancel);
    if (!said) return {fault_of(std::move(said).error()), {}};
    return {fault_of(said->result), std::move(*said)};
  }

  // A fault here may leave an environment behind that nobody knows: whatever id was printed is deleted.
  Result<std::string> create(const SandboxSpec& spec, const CancelToken& cancel) const {
    const Answer answer = ask(
        {"environment", "create", "--source", spec.host_folder.string(), "--title", "guard-" + spec.run_id, "--json"},
        Deadline::after(options_.create_limit), kToolGrace, cancel);
    auto id = created_environment_id(answer.said.out);
    if (answer.fault.empty())
      return id ? std::move(id) : std::move(id).error().detail("stderr", shown(answer.said.err));
    Error error = answer.said.result.outcome.kind == OutcomeKind::cancelled
        ? Error(ErrorCode::cancelled, "stopped while an environment was made")
        : creation_failed(fmt::format("`cu environment create` {}", answer.fault), answer.said.err);
    if (!id) return error;
    if (auto removed = remove(spec, *id); !removed) return std::move(error).context(removed.error().message());
    return error;
  }

  Result<void> remove(const SandboxSpec& spec, const std::string& id) const {
    const CancelToken never;  // what was begun is ended in order, also after a cancel
    const Answer answer = ask({"environment", "delete", "--id", id, "--source", spec.host_folder.string()},
        Deadline::after(options_.delete_limit), kToolGrace, never);
    if (answer.fault.empty()) return ok();
    return Error(ErrorCode::execution_failed,
        fmt::format("container-use: the environment {} could not be deleted: it {}: {}", id, answer.fault,
            shown(answer.said.err)));
  }

  Result<ExecResult> run_in(
      const SandboxSpec& spec, const std::string& id, ByteSink& out, ByteSink& err, const CancelToken& cancel) const;

  ContainerUseOptions options_;
};

Result<ExecResult> ContainerUseSandbox::run_in(
    const SandboxSpec& spec, const std::string& id, ByteSink& out, ByteSink& err, const CancelToken& cancel) const {
  InitStream init(out, err, spec.limits.output_flood_bytes, spec.report);
  init.expect_programs(spec.each.size(), spec.program_ended);
  init.note_stages(spec.timeline);
  begin_stage(spec.timeline, "start");
  FrameSink frames(init);
  TailSink complaints;
  const auto began = SteadyClock::now();
  auto ended = run_process(process({"environment", "run", "--id", id, "--source", spec.host_folder.string(),
                                       "--command", fmt::format("exec env -i sh ./{}", kCommandFile)},
                               Deadline::after(spec.timeout), spec.grace + kFrameSlack),
      frames, complaints, cancel);
  ExecResult result;
  result.wall = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - began);
  const OutcomeKind kind = ended ? ended->outcome.kind : OutcomeKind::exited;
  if (init.flooded()) {
    result.outcome = {OutcomeKind::output_flood, static_cast<std::int64_t>(spec.limits.output_flood_bytes), {}};
  } else if (kind == OutcomeKind::cancelled) {
    result.outcome = {OutcomeKind::cancelled, cancel.signal_number(), {}};
  } else if (!init.hello_seen() && !init.exit_seen()) {
    // It is cu that speaks, or what it started instead of our command; a time-out is not the tests' own.
    return creation_failed(fmt::format("`cu environment run` {}, and ran nothing",
                               ended && fault_of(ended).empty() ? "ended" : fault_of(ended)),
        complaints.text);
  } else if (kind == OutcomeKind::timed_out) {
    result.outcome = {OutcomeKind::timed_out, spec.timeout.count(), {}};
  } else {
    if (!ended) return std::move(ended).error().detail("stderr", shown(complaints.text));
    if (auto whole = init.finish(); !whole) return std::move(whole).error().detail("stderr", shown(complaints.text));
    GUARD_TRY_ASSIGN(result.outcome, outcome_of(*init.exit(), TermSent::no, spec.timeout));
    // Init exits with 0 whatever the program did: its last frame has said that.
    if (const std::string fault = fault_of(ended); !fault.empty()) {
      return Error(
          ErrorCode::protocol_error, fmt::format("the init ended in order, but `cu environment run` {}", fault))
          .detail("stderr", shown(complaints.text));
    }
  }
  init.take_into(result);
  // What an earlier run has left there may be another init, or other tests.
  if (!options_.environment_id.empty()) result.seen_inside["shared_environment"] = "1";
  result.enforced_by = limits_of_init();
  add_missing_limits(result);
  return result;
}

Result<ExecResult> ContainerUseSandbox::run(
    const SandboxSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  GUARD_TRY(validate(spec));
  GUARD_TRY(validate_host_folder(spec, "container-use"));
  if (spec.require_cgroups) {
    return unavailable("limits of memory and processes can't be enforced in an environment of container-use",
        "drop `require_cgroups`, or use another backend");
  }
  GUARD_TRY(refuse_shared(spec, "container-use"));
  if (spec.input_descriptor >= 0)
    return Error(ErrorCode::input_invalid, "container-use can't hand standard input to a command");
  for (const auto& [name, value] : spec.env) {
    if (is_shell_name(name)) continue;
    return Error(ErrorCode::input_invalid,
        fmt::format("a shell can't pass on an environment variable called \"{}\"", printable(name)));
  }
  std::string id = options_.environment_id;
  if (!id.empty() && !is_environment_id(id))
    return Error(ErrorCode::input_invalid, "container_use.env_id is no id of an environment");
  if (const SandboxProbe found = find_program(); found.state != ProbeState::available)
    return unavailable(found.reason, kInstall);
  if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped before the run began");
  GUARD_TRY(write_new_file(spec.host_folder / kInitInEnvironment, init_binary(), 0755).context("staging guard's init"));
  GUARD_TRY(write_new_file(spec.host_folder / kCommandFile, command_text(spec), 0444).context("staging the command"));
  if (!id.empty()) return run_in(spec, id, out, err, cancel);

  begin_stage(spec.timeline, "create");
  GUARD_TRY_ASSIGN(id, create(spec, cancel));
  auto result = run_in(spec, id, out, err, cancel);
  const auto removed = remove(spec, id);
  if (removed) return result;
  if (!result) return std::move(result).context(removed.error().message());
  result->notes.push_back(removed.error().message());
  return result;
}

}  // namespace

bool is_environment_id(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kIdBytesMax && text.front() != '-' &&
      std::all_of(text.begin(), text.end(),
          [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '/' || c == '-'; });
}

Result<std::string> created_environment_id(std::string_view printed) {
  const auto document = parse_json(printed);
  if (!document || !document->is_object())
    return creation_failed("`cu environment create` did not answer with a JSON object");
  const auto id = document->find("environment_id");
  if (id == document->end() || !id->is_string())
    return creation_failed("`cu environment create` named no environment_id");
  const auto& text = id->get_ref<const std::string&>();
  if (!is_environment_id(text))
    return creation_failed(fmt::format("`cu environment create` named an invalid id: {}", shown(text)));
  return text;
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
