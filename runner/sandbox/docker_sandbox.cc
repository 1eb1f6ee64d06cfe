// A run in a fresh container, over the Engine API alone.
//
// The container's standard output carries the framed stream of our init (runner/init_side/init_stream.h), its standard
// input is the life line. How the run ended is put together from three witnesses: what guard did (time-out, cancel,
// flood), what the engine says (killed for memory), what the init says. Where they contradict each other or one is
// missing, the answer is an Error and never a result.
//
// The container's name follows from the run id, so that it can be removed even when the answer to its creation was
// lost. A result stands only once the engine has confirmed that the container is gone.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/environment.h"
#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "docker/container_config.h"
#include "docker/engine_client.h"
#include "docker/engine_probe.h"
#include "docker/stream_frames.h"
#include "runner/egress/egress_relay.h"
#include "runner/files/owned_tree.h"
#include "runner/image/image_archive.h"
#include "runner/init_side/init_binary.h"
#include "runner/init_side/init_stream.h"
#include "runner/init_side/program_input.h"
#include "runner/process/stray_processes.h"
#include "runner/sandbox/apparmor_profile.h"
#include "runner/sandbox/docker_sweep.h"
#include "runner/sandbox/sandbox.h"
#include "runner/sandbox/seccomp_filter.h"
#include "runner/tasks/staying_sandbox.h"

namespace guard {
namespace {

constexpr std::string_view kInitPath = "/.guard-init";

// A call takes some milliseconds, creating and starting a container up to a second on a busy machine; beyond these
// limits the engine hangs.
constexpr milliseconds kCallLimit{10'000};
constexpr milliseconds kStartLimit{60'000};
constexpr milliseconds kStartSlack{15'000};  // a short time-out is the program's, not the engine's
// For a healthy engine this is long, for one that is stopped or hangs it is what a run waits for beyond its own time.
constexpr milliseconds kPingLimit{2'000};
// What is staged may be half a gigabyte (pipeline/run/staging.h), and the network to the engine a slow one.
constexpr milliseconds kSendLimit{600'000};
constexpr milliseconds kSendSlack{60'000};
// After KILL the kernel tears the container down; the engine then has to notice.
constexpr milliseconds kKillLimit{15'000};
constexpr milliseconds kRemoveLimit{15'000};
constexpr int kRemoveAttempts = 3;
constexpr milliseconds kRemovePause{200};
constexpr milliseconds kLookAtCancel{100};
constexpr milliseconds kLostSpan{2'000};
// A creation whose answer was lost may still come to pass this long after.
constexpr milliseconds kLateCreation{2'000};
// After this a container that nobody removed is surely nobody's.
constexpr std::chrono::seconds kDeadlineSlack{60};
constexpr std::chrono::hours kStayMax{96};  // of a sandbox that stays: twice the oldest that a session gets
constexpr std::size_t kComplaintBytesMax = 4096;
// A trial run with another runtime takes half a second where it works; where it does not, it may hang for ever.
constexpr milliseconds kTrialLimit{20'000};

// Once a run has begun, an engine that fails leaves it undecided: neither "no environment" nor the program's own
// time-out.
Error engine_failed(Error error) {
  if (error.code() != ErrorCode::environment_unavailable && error.code() != ErrorCode::execution_timeout) return error;
  Error failure(ErrorCode::execution_failed, error.message());
  for (const std::string& frame : error.frames()) failure = Error(std::move(failure).context(frame));
  for (const auto& [key, value] : error.details()) failure = Error(std::move(failure).detail(key, value));
  return std::move(failure)
      .caused_by(error)
      .context("running in a container")
      .hint(
          "see that the container engine runs and is not stopped (`docker version`), look at its log, then start "
          "again");
}

// No wait on the engine is longer than the run itself may be: who says ten seconds does not expect to sit here for a
// minute more.
Deadline within_run(const SandboxSpec& spec, milliseconds limit, milliseconds slack = kStartSlack) {
  return Deadline::after(std::min(limit, spec.timeout + spec.grace + slack));
}

template <typename T>
Result<T> engine_failed(Result<T> result) {
  if (result) return result;
  return engine_failed(std::move(result).error());
}

// Whether the engine did all that it was asked for so far.
enum class SoFar : std::uint8_t { well, failed };

// A few times, with pauses: an engine may be busy with the very thing. Not of one that has failed and does not even
// answer a ping, nor once it has let a call run out of time: it would let the next one, too.
Result<void> try_to_remove(docker::EngineClient& engine, SoFar so_far, const std::function<Result<void>()>& remove) {
  if (so_far == SoFar::failed) {
    auto answers = engine.ping(Deadline::after(kPingLimit));
    if (!answers && answers.error().code() == ErrorCode::execution_timeout) return answers;
  }
  Result<void> removed = remove();
  for (int attempt = 1; attempt < kRemoveAttempts && !removed && removed.error().code() != ErrorCode::execution_timeout;
       ++attempt) {
    std::this_thread::sleep_for(kRemovePause);
    removed = remove();
  }
  return removed;
}

// Armed before the container is made; what is armed is removed on every path out.
class ScopedContainer {
 public:
  ScopedContainer(docker::EngineClient& engine, std::string name) : engine_(engine), name_(std::move(name)) {}
  ScopedContainer(const ScopedContainer&) = delete;
  ScopedContainer& operator=(const ScopedContainer&) = delete;
  ~ScopedContainer() {
    if (armed_) static_cast<void>(remove(SoFar::failed));
  }

  const std::string& name() const noexcept { return name_; }

  // An engine that fails may have lost a container of this machine that lives on.
  void own_inits_of(std::string owner) { owner_ = std::move(owner); }
  // The engine said that it did not make one.
  void disarm() noexcept { armed_ = false; }
  // It was made with a runtime of which processes may be left that no engine knows of.
  void watch_processes_of(std::string id) { id_ = std::move(id); }
  void answer_was_lost() noexcept { may_come_late_ = true; }

  Result<void> remove(SoFar so_far) {
    if (!armed_) return ok();
    armed_ = false;
    Result<void> removed = try_to_remove(engine_, so_far, [this] {
      // Before as well: a start that hangs holds up the removal.
      kill_runtime_processes(id_);
      return engine_.remove_container(name_, Deadline::after(kRemoveLimit));
    });
    if (removed && may_come_late_) removed = remove_late_comer();
    kill_runtime_processes(id_);
    if (removed) return ok();
    kill_inits_of(owner_);
    return engine_failed(std::move(removed).error())
        .context(fmt::format("removing the container {}", name_))
        .hint(fmt::format("remove it with `docker rm -f {}`; guard tries again at its next start", name_));
  }

 private:
  Result<void> remove_late_comer() {
    const Deadline deadline = Deadline::after(kLateCreation);
    while (!deadline.passed()) {
      GUARD_TRY(engine_.remove_container(name_, Deadline::after(kRemoveLimit)));
      std::this_thread::sleep_for(kRemovePause);
    }
    return ok();
  }

  docker::EngineClient& engine_;
  std::string name_;
  std::string id_;
  std::string owner_;
  bool armed_ = true;
  bool may_come_late_ = false;
};

// How the files of a run get into its container.
enum class Shown { mounted, as_an_image };

// The image of one run; armed before it is built, and removed on every path out.
class ScopedImage {
 public:
  ScopedImage(docker::EngineClient& engine, const std::string& run_id)
      : engine_(engine),
        reference_(docker_image_name(run_id)),
        label_(fmt::format("{}={}", docker_label::kRun, run_id)) {}
  ScopedImage(const ScopedImage&) = delete;
  ScopedImage& operator=(const ScopedImage&) = delete;
  ~ScopedImage() {
    if (armed_) static_cast<void>(remove(SoFar::failed));
  }

  const std::string& name() const noexcept { return reference_; }

  // Until then some step of a build may have left an image without the name.
  void is_whole() noexcept { whole_ = true; }

  Result<void> remove(SoFar so_far) {
    if (!armed_) return ok();
    armed_ = false;
    Result<void> removed = try_to_remove(engine_, so_far, [this]() -> Result<void> {
      GUARD_TRY(engine_.remove_image(reference_, Deadline::after(kRemoveLimit)));
      return whole_ ? ok() : remove_steps();
    });
    if (removed) return removed;
    return engine_failed(std::move(removed).error())
        .context(fmt::format("removing the image {}", reference_))
        .hint(fmt::format("remove it with `docker rmi {}`; guard tries again at its next start", reference_));
  }

 private:
  Result<void> remove_steps() {
    GUARD_TRY_ASSIGN(const auto steps, engine_.list_images(label_, Deadline::after(kCallLimit)));
    for (const auto& step : steps) GUARD_TRY(engine_.remove_image(step.id, Deadline::after(kRemoveLimit)));
    return ok();
  }

  docker::EngineClient& engine_;
  std::string reference_;
  std::string label_;
  bool armed_ = true;
  bool whole_ = false;
};

// What guard itself did to end the run.
enum class Intervention : std::uint8_t { none, timed_out, cancelled, flooded };

// Pumps one attached container from its start to the end of its stream.
class Pump {
 public:
  Pump(const SandboxSpec& spec, docker::EngineClient& engine, const std::string& container, InitStream& init)
      : spec_(spec),
        engine_(engine),
        container_(container),
        init_(init),
        input_(spec.input_descriptor),
        frames_([this](int stream, std::span<const char> bytes) { return take(stream, bytes); }) {}

  // Returns at the end of the stream. An Error leaves the container running: its removal kills it.
  Result<void> run(docker::Attachment& attachment, const CancelToken& cancel) {
    std::unique_ptr<EgressRelay> relay;
    if (spec_.egress) {
      GUARD_TRY_ASSIGN(relay, EgressRelay::create(spec_.egress, [&attachment](std::string_view frames) {
        return attachment.write(frames);
      }));
      init_.expect_connections([&relay](std::uint32_t id, std::string_view said) { return relay->push(id, said); });
    }
    // Before the relay goes, on every path out: nothing it says is waited for.
    const std::unique_ptr<docker::Attachment, void (*)(docker::Attachment*)> leaving(
        &attachment, [](docker::Attachment* one) { one->give_up(); });
    next_step_ = Deadline::after(spec_.timeout);
    std::string bytes;
    bool open = true;
    bool lost = false;  // init could not be told something
    Deadline lost_until = Deadline::never();
    while (open) {
      GUARD_TRY(step_on(cancel));
      // Where the container has ended meanwhile, its stream says how.
      if (lost || (relay && relay->failed())) lost_until = lost_until.sooner(Deadline::after(kLostSpan));
      if (lost_until.passed() && intervention_ == Intervention::none && !init_.exit_seen())
        return Error(ErrorCode::execution_failed, "the sandbox's init did not listen any more");
      const bool heed_cancel = intervention_ == Intervention::none;
      std::array<pollfd, 4> fds = {pollfd{attachment.fd(), POLLIN, 0},
          pollfd{heed_cancel ? cancel.fd() : -1, POLLIN, 0}, pollfd{signal_ ? signal_->fd() : -1, POLLIN, 0},
          pollfd{heed_cancel ? input_.descriptor() : -1, POLLIN, 0}};
      // A token without a descriptor cannot wake us, so it is looked at now and then.
      Deadline wake = next_step_;
      if ((heed_cancel && cancel.fd() < 0) || relay || lost) wake = wake.sooner(Deadline::after(kLookAtCancel));
      const int timeout = attachment.pending() ? 0 : wake.poll_timeout();
      if (::poll(fds.data(), fds.size(), timeout) < 0 && errno != EINTR) {
        return Error::from_errno(ErrorCode::io_error, "poll", errno);
      }
      if (fds[2].revents != 0) {
        GUARD_TRY_ASSIGN(const bool answered, signal_->answered());
        if (answered) {
          GUARD_TRY(signal_->finish());
          signal_.reset();
        }
      }
      if (fds[3].revents != 0) {
        GUARD_TRY_ASSIGN(const auto frame, input_.next_frame());
        if (frame && !attachment.write(*frame)) lost = true;
      }
      if (fds[0].revents == 0 && !attachment.pending()) continue;
      bytes.clear();
      GUARD_TRY_ASSIGN(open, attachment.read_some(bytes));
      GUARD_TRY(frames_.push(bytes));
    }
    attachment.give_up();
    if (relay && init_.programs_ended_by_themselves()) relay->finish();
    return frames_.finish();
  }

  // gVisor brings a kernel of its own: one that shows the engine's is something else.
  void expect_another_kernel(std::string release) { not_this_kernel_ = std::move(release); }

  Intervention intervention() const noexcept { return intervention_; }
  bool was_ready() const noexcept { return was_ready_; }  // when it was asked to end
  TermSent term_sent() const noexcept { return term_sent_; }
  bool kill_sent() const noexcept { return kill_sent_; }

  // The end of what init wrote to its own standard error: nothing, unless it could not work.
  std::string complaint() const { return printable(complaint_); }

 private:
  Result<void> take(int stream, std::span<const char> bytes) {
    if (stream != 1) {
      complaint_.append(bytes.data(), bytes.size());
      if (complaint_.size() > kComplaintBytesMax) complaint_.erase(0, complaint_.size() - kComplaintBytesMax);
      return ok();
    }
    GUARD_TRY(init_.push(bytes));
    if (init_.input_wanted()) input_.wanted();
    if (!confinement_checked_ && init_.hello_seen()) {
      confinement_checked_ = true;
      GUARD_TRY(check_confinement(init_.hello()));
      GUARD_TRY(check_kernel());
      // One that was sent earlier is lost: a PID 1 that listens to no signal yet gets none.
      if (term_sent_ == TermSent::yes && !kill_sent_) GUARD_TRY(send_signal("SIGTERM"));
    }
    return ok();
  }

  Result<void> check_kernel() const {
    const auto kernel = init_.hello().find("kernel");
    if (not_this_kernel_.empty() || (kernel != init_.hello().end() && kernel->second != not_this_kernel_)) return ok();
    return not_confined("the runtime is named as gVisor's is, and runs on the engine's own kernel");
  }

  // TERM at the time-out or when cancelled, KILL after the grace or at once for a flood.
  Result<void> step_on(const CancelToken& cancel) {
    if (intervention_ == Intervention::none) {
      if (cancel.cancelled()) return ask_to_end(Intervention::cancelled);
      if (next_step_.passed()) return ask_to_end(Intervention::timed_out);
    }
    if (init_.flooded() && !kill_sent_) {
      if (intervention_ == Intervention::none) intervention_ = Intervention::flooded;
      return kill();
    }
    if (!next_step_.passed()) return ok();
    // What has let the whole grace pass without an answer will not hear of a KILL, either.
    if (!kill_sent_ && (!signal_ || spec_.grace < kPingLimit)) return kill();
    if (signal_)
      return Error(ErrorCode::execution_timeout, "the container engine did not answer when the run was to be ended");
    return Error(ErrorCode::execution_failed, "the container did not end after KILL");
  }

  Result<void> ask_to_end(Intervention why) {
    intervention_ = why;
    was_ready_ = init_.hello_seen();
    term_sent_ = TermSent::yes;
    next_step_ = Deadline::after(spec_.grace);
    return send_signal("SIGTERM");
  }

  Result<void> kill() {
    kill_sent_ = true;
    next_step_ = Deadline::after(kKillLimit);
    return send_signal("SIGKILL");
  }

  Result<void> send_signal(std::string_view name) {
    GUARD_TRY_ASSIGN(signal_, engine_.begin_kill(container_, name, Deadline::after(kKillLimit)));
    return ok();
  }

  const SandboxSpec& spec_;
  docker::EngineClient& engine_;
  const std::string& container_;
  InitStream& init_;
  ProgramInput input_;
  docker::StreamFrames frames_;
  std::unique_ptr<docker::PendingKill> signal_;  // the last one sent, until it is answered
  std::string complaint_;
  std::string not_this_kernel_;
  Deadline next_step_ = Deadline::never();
  Intervention intervention_ = Intervention::none;
  TermSent term_sent_ = TermSent::no;
  bool was_ready_ = false;
  bool kill_sent_ = false;
  bool confinement_checked_ = false;
};

// The witnesses, most telling first. `whole`: whether init's stream was complete.
Result<Outcome> conclude(const SandboxSpec& spec, const Pump& pump, const docker::ContainerState& state,
    const InitStream& init, Result<void> whole) {
  if (pump.intervention() == Intervention::cancelled) return Outcome{OutcomeKind::cancelled, 0, {}};
  if (pump.intervention() == Intervention::flooded) {
    return Outcome{OutcomeKind::output_flood, static_cast<std::int64_t>(spec.limits.output_flood_bytes), {}};
  }
  // Before the exit code: a shell whose child was killed for memory exits 0. The engine's word can come late when it is
  // busy; init has read the cgroup's own count.
  const bool told_by_init = whole && init.exit();
  if (state.oom_killed || (told_by_init && init.exit()->oom_kills > 0)) {
    return Outcome{OutcomeKind::out_of_memory, static_cast<std::int64_t>(spec.limits.memory_bytes), {}};
  }
  if (told_by_init && init.exit()->pids_refused > 0) {
    return Outcome{OutcomeKind::pids_limit, static_cast<std::int64_t>(spec.limits.pids), {}};
  }
  if (pump.intervention() == Intervention::timed_out && !pump.was_ready()) return not_ready_in_time(spec.timeout);
  if (pump.intervention() == Intervention::timed_out) {
    return Outcome{
        OutcomeKind::timed_out, spec.timeout.count(), pump.kill_sent() ? "it ignored TERM and had to be killed" : ""};
  }
  constexpr std::int64_t kKilled = 128 + SIGKILL;
  const bool killed_by_nobody = state.exit_code == kKilled && !pump.kill_sent();
  if ((!whole || !init.exit()) && init.hello_seen() && init.tagged() && killed_by_nobody) {
    // On this machine's kernel no process of a namespace can kill its PID 1; on a runtime's own it may.
    return Outcome{OutcomeKind::violation, 0, "the sandbox's init was killed, and guard did not do it"};
  }
  if (!whole || !init.exit()) {
    Error error = whole ? Error(ErrorCode::protocol_error, "the sandbox's init said nothing of the end")
                        : std::move(whole).error();
    return std::move(error)
        .context(fmt::format("reading what a container said that ended with exit code {}", state.exit_code))
        .detail("stderr", pump.complaint());
  }
  GUARD_TRY_ASSIGN(Outcome outcome, outcome_of(*init.exit(), pump.term_sent(), spec.timeout));
  if (state.exit_code != 0 || !state.error.empty()) {
    return Error(ErrorCode::protocol_error,
        fmt::format("the init ended in order, but the engine says exit code {} {}", state.exit_code, state.error));
  }
  return outcome;
}

Result<std::map<std::string, std::string>> labels_of(const SandboxSpec& spec) {
  GUARD_TRY_ASSIGN(const std::string cache, docker_cache_label());
  const auto over = std::chrono::system_clock::now() +
      (spec.argv.empty() ? milliseconds(kStayMax) : spec.timeout + spec.grace) + kDeadlineSlack;
  const auto over_seconds = std::chrono::duration_cast<std::chrono::seconds>(over.time_since_epoch()).count();
  return std::map<std::string, std::string>{{docker_label::kRun, spec.run_id}, {docker_label::kCache, cache},
      {docker_label::kDeadline, std::to_string(over_seconds)}};
}

// `image` is what the container is made from; the environment is that of the image below it, too.
Result<docker::ContainerConfig> config_for(const SandboxSpec& spec, const docker::EngineInfo& engine, Shown shown,
    const docker::ImageInfo& image, const std::string& runtime) {
  GUARD_TRY_ASSIGN(const auto init, init_binary_path());

  docker::ContainerConfig config;
  config.image = image.id;
  InitDuties duties;  // no limit of processes per user: the engine limits the container's own
  duties.watch_cgroup = duties.own_folders = true;
  GUARD_TRY_ASSIGN(duties.owner, run_owner(spec.run_id));
  // Another runtime may have a kernel of its own, which does not do what the engine asks of the machine's.
  // It may also let a program reach into init, so init's frames are signed.
  duties.own_filter = duties.tag_frames = !runtime.empty();
  config.command = init_command(kInitPath, spec, duties);
  config.working_dir = spec.working_dir;
  config.env = spec.env;
  config.image_env_names = image.env_names;
  if (shown == Shown::mounted) {
    config.mounts.push_back({init.string(), std::string(kInitPath)});
    for (const Mount& mount : spec.mounts) config.mounts.push_back({mount.source.string(), mount.target});
    for (const SharedFolder& folder : spec.shared)
      config.mounts.push_back({folder.source.string(), folder.target, true});
  }
  for (const MemoryFolder& folder : memory_folders(spec)) {
    config.scratch.push_back({folder.target, folder.bytes_max, folder.files_max, folder.shared});
  }
  config.memory_bytes = spec.limits.memory_bytes;
  config.cpus = spec.limits.cpus;
  config.pids = spec.limits.pids;
  config.open_files = spec.limits.open_files;
  config.file_bytes = spec.limits.file_bytes;
  config.network_mode = spec.network == Network::host ? "host" : spec.network == Network::bridge ? "bridge" : "none";
  // Another runtime has a network of its own, and a remote engine a kernel that nothing is known of.
  config.ipv6_loopback =
      config.network_mode == "none" && shown == Shown::mounted && ::access("/proc/sys/net/ipv6/conf/lo", F_OK) == 0;
  config.seccomp_profile = seccomp_profile_json();
  // podman loads a profile of its own under another name and uses it unasked.
  if (engine.apparmor && !engine.podman)
    config.apparmor_profile = shown == Shown::mounted ? apparmor_profile() : "docker-default";
  config.runtime = runtime;
  config.podman = engine.podman;
  if (engine.podman) {
    GUARD_TRY_ASSIGN(const auto profile, seccomp_profile_path());
    config.seccomp_file = profile.string();
    GUARD_TRY(check_names_for_podman(config));
  }

  GUARD_TRY_ASSIGN(config.labels, labels_of(spec));
  GUARD_TRY(check_is_text(config));
  return config;
}

// What a run in a container is made with, found once for each.
struct RunParts {
  docker::EngineProbe engine;
  docker::EngineClient client;  // heeds the cancel token
  docker::EngineClient ending;  // does not: what was begun is ended in order, also after a cancel
  const CancelToken& cancel;
  docker::ImageInfo image = {};
  Shown shown = Shown::mounted;
};

// A failed removal ends a run that succeeded; where the run has failed, it is said with that.
Result<ExecResult> with_removal(Result<ExecResult> result, Result<void> removed) {
  if (removed) return result;
  if (result) return std::move(removed).error();
  return std::move(result).context(removed.error().message());
}

// What was made or may have been is removed by `container`.
Result<std::string> create_container(const docker::ContainerConfig& config, const SandboxSpec& spec,
    docker::EngineClient& client, ScopedContainer& container) {
  auto created = client.create_container(container.name(), container_config(config), within_run(spec, kStartLimit));
  if (created) return created;
  // A status of 4xx is a no: what bears the name is not ours. Otherwise nobody knows what the engine did or will do.
  const auto status = created.error().details().find("status");
  const bool answered = status != created.error().details().end();
  if (answered ? status->second.starts_with('4') : created.error().code() == ErrorCode::environment_unavailable) {
    container.disarm();
  } else if (!answered) {
    container.answer_was_lost();
  }
  return engine_failed(created.error());
}

void add_container_limits(const SandboxSpec& spec, ExecResult& result) {
  result.enforced_by = limits_of_init();
  for (const char* limit : {"memory", "swap", "pids", "cpus"}) result.enforced_by[limit] = "cgroup";
  result.enforced_by["network"] = is_open(spec.network) ? kOpenNetwork : "namespace";
  result.enforced_by["syscalls"] = "seccomp";
}

// The user inside a container that may write to a folder of this machine: the folder's owner, so that guard can remove
// what the container has left there.
std::uint32_t user_for_shared() { return ::geteuid() == 0 ? docker::kUid : static_cast<std::uint32_t>(::geteuid()); }

// Init is reached over the engine's socket, on which one thread may write while another reads.
class DockerLink final : public SandboxLink {
 public:
  DockerLink(SandboxSpec spec, const docker::EngineProbe& engine, const docker::ImageInfo& image)
      : spec_(std::move(spec)),
        parts_{engine, {engine.endpoint, never_}, {engine.endpoint, never_}, never_, image},
        container_(parts_.ending, docker_container_name(spec_.run_id)),
        frames_([this](int stream, std::span<const char> bytes) { return take(stream, bytes); }) {}

  Result<void> start() override {
    GUARD_TRY_ASSIGN(auto config, config_for(spec_, *parts_.engine.info, parts_.shown, parts_.image, ""));
    config.user = user_for_shared();
    GUARD_TRY_ASSIGN(std::string owner, run_owner(spec_.run_id));
    container_.own_inits_of(std::move(owner));
    GUARD_TRY_ASSIGN(const std::string id, create_container(config, spec_, parts_.client, container_));
    GUARD_TRY_ASSIGN(auto attachment, engine_failed(parts_.client.attach(id, within_run(spec_, kCallLimit))));
    {
      const std::lock_guard lock(mutex_);
      attachment_ = std::move(attachment);
    }
    return engine_failed(parts_.client.start(id, within_run(spec_, kStartLimit)));
  }

  Result<bool> receive(std::string& bytes, int wake, Deadline deadline) override {
    std::array<pollfd, 2> fds = {pollfd{attachment_->fd(), POLLIN, 0}, pollfd{wake, POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), attachment_->pending() ? 0 : deadline.poll_timeout()) < 0 && errno != EINTR)
      return Error::from_errno(ErrorCode::environment_unavailable, "poll", errno);
    if (fds[0].revents == 0 && !attachment_->pending()) return true;
    std::string raw;
    GUARD_TRY_ASSIGN(const bool open, engine_failed(attachment_->read_some(raw)));
    into_ = &bytes;
    GUARD_TRY(frames_.push(raw));
    return open;
  }

  std::map<std::string, std::string> enforced_by(const std::map<std::string, std::string>& hello) const override {
    ExecResult result;
    add_container_limits(spec_, result);
    result.seen_inside = hello;
    add_folder_limits(spec_.limits, result);
    return result.enforced_by;
  }

  Result<void> look() override { return ok(); }  // the engine has put all limits into the kernel's hands

  Result<void> send(std::string_view frame) override {
    const std::lock_guard lock(mutex_);
    if (!attachment_) return Error(ErrorCode::environment_unavailable, "the sandbox is not there");
    return engine_failed(attachment_->write(frame));
  }

  // A send that waits for an init that does not read is woken by the end of the container.
  Result<void> end() override {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock) attachment_.reset();
    auto removed = container_.remove(SoFar::failed);
    if (!lock) lock.lock();
    attachment_.reset();
    return removed;
  }

  std::string complaint() const override { return printable(complaint_); }

 private:
  Result<void> take(int stream, std::span<const char> bytes) {
    std::string& into = stream == 1 ? *into_ : complaint_;
    into.append(bytes.data(), bytes.size());
    if (complaint_.size() > kComplaintBytesMax) complaint_.erase(0, complaint_.size() - kComplaintBytesMax);
    return ok();
  }

  const SandboxSpec spec_;
  const CancelToken never_;
  RunParts parts_;
  ScopedContainer container_;
  docker::StreamFrames frames_;
  std::mutex mutex_;  // the attachment's being there, for send()
  std::unique_ptr<docker::Attachment> attachment_;
  std::string* into_ = nullptr;
  std::string complaint_;
};

class DockerSandbox final : public Sandbox {
 public:
  explicit DockerSandbox(DockerOptions options) : options_(std::move(options)) {}

  std::string_view name() const noexcept override { return "docker"; }

  SandboxProbe probe(Deadline deadline) const override {
    const CancelToken never;
    return sandbox_probe(docker::probe_engine(candidates(), deadline, never));
  }

  Result<std::unique_ptr<OpenSandbox>> open(const SandboxSpec& spec, const CancelToken& cancel) override {
    GUARD_TRY(validate(spec, Serves::tasks));
    GUARD_TRY_ASSIGN(const auto engine, find_engine(cancel));
    // The kernel of a runtime such as gVisor numbers files anew, so init can't know the folder that was looked at; and
    // a program may reach into init there, whose frames about tasks are not signed.
    if (engine.endpoint.is_remote() || !options_.runtime.empty()) {
      return Error(ErrorCode::input_invalid,
          engine.endpoint.is_remote()
              ? "a container engine on another machine has no sandboxes that stay: no folder of this one is there"
              : fmt::format("the container runtime {} has no sandboxes that stay: it shows a folder of this machine so "
                            "that nobody inside can tell that it is the right one",
                    printable(options_.runtime)))
          .hint("use a container engine on this machine without [docker] runtime, or --backend namespace");
    }
    docker::EngineClient client(engine.endpoint, cancel);
    GUARD_TRY_ASSIGN(const docker::ImageInfo image, find_image(spec, client));
    if (::geteuid() == 0) {
      for (const SharedFolder& folder : spec.shared) GUARD_TRY(give_tree(folder.source, user_for_shared()));
    }
    return open_over(std::make_unique<DockerLink>(spec, engine, image), spec.egress, spec.timeout, cancel);
  }

  Result<ExecResult> run(const SandboxSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel) override {
    GUARD_TRY(validate(spec));
    begin_stage(spec.timeline, "engine");
    GUARD_TRY_ASSIGN(auto engine, find_engine(cancel));
    const CancelToken never;
    const docker::Endpoint endpoint = engine.endpoint;
    RunParts parts{std::move(engine), {endpoint, cancel}, {endpoint, never}, cancel};
    GUARD_TRY_ASSIGN(parts.image, find_image(spec, parts.client));

    // Removed after the container that is made from it.
    std::optional<ScopedImage> staged;
    // gVisor lists a file that is mounted as a folder.
    if (endpoint.is_remote() || !options_.runtime.empty()) {
      GUARD_TRY(refuse_shared(
          spec, endpoint.is_remote() ? "a container engine on another machine" : "a runtime of docker.runtime"));
      parts.shown = Shown::as_an_image;
      staged.emplace(parts.ending, spec.run_id);
      GUARD_TRY_ASSIGN(parts.image.id, engine_failed(send_files(spec, parts, staged->name())));
      staged->is_whole();
    }
    Result<void> usable = options_.runtime.empty() ? ok() : try_runtime(spec, parts);
    auto result = usable ? run_in(spec, parts, out, err) : Result<ExecResult>(std::move(usable).error());
    if (!staged) return result;
    auto removed = staged->remove(result ? SoFar::well : SoFar::failed);
    return with_removal(std::move(result), std::move(removed));
  }

 private:
  // Asked again, though the caller has: an engine that was changed meanwhile must not run this with fewer limits.
  Result<docker::EngineProbe> find_engine(const CancelToken& cancel) const {
    auto engine = docker::probe_engine(candidates(), Deadline::after(options_.probe_deadline), cancel);
    if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped before the run began");
    if (engine.state == docker::EngineState::available) return engine;
    return Error(ErrorCode::environment_unavailable, engine.reason)
        .hint(engine.remedy)
        .detail("environmentType", "docker");
  }

  // A runtime that was configured is trusted once a run of nothing has come through with every proof, under this boot
  // of this engine.
  Result<void> try_runtime(const SandboxSpec& spec, RunParts& parts) const {
    const docker::EngineProbe& engine = parts.engine;
    const auto unusable = [this](std::string_view why) {
      return Error(ErrorCode::environment_unavailable,
          fmt::format("the container runtime {} did not pass a trial run: {}", printable(options_.runtime), why))
          .hint("fix the runtime's entry in the engine's daemon.json, or leave [docker] runtime out")
          .detail("environmentType", "docker");
    };
    if (std::find(engine.info->runtimes.begin(), engine.info->runtimes.end(), options_.runtime) ==
        engine.info->runtimes.end()) {
      return unusable(fmt::format("the engine knows only {}", fmt::join(engine.info->runtimes, ", ")));
    }
    GUARD_TRY_ASSIGN(const std::filesystem::path passed, trial_mark(engine, options_.runtime));
    std::error_code error;
    if (std::filesystem::exists(passed, error)) return ok();
    SandboxSpec trial;
    trial.run_id = spec.run_id;
    trial.argv = {std::string(kInitPath), "--nothing"};
    trial.working_dir = "/tmp";
    trial.image = spec.image;
    trial.limits = spec.limits;  // what its own processes need counts, too
    trial.timeout = kTrialLimit;
    trial.grace = milliseconds(0);
    StringSink out;  // nothing comes
    const auto result = run_in(trial, parts, out, out);
    if (parts.cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped before the run began");
    if (!result) return unusable(result.error().message());
    if (result->outcome.kind != OutcomeKind::exited || result->outcome.value != 0) {
      return unusable(fmt::format("it ended with {} {}", to_string(result->outcome.kind), result->outcome.value));
    }
    GUARD_TRY(make_folders(passed.parent_path(), 0755));
    return write_file_atomically(passed, options_.runtime + "\n");
  }

  // Where a passed trial is remembered: until the next boot, another version of the engine or another guard.
  static Result<std::filesystem::path> trial_mark(const docker::EngineProbe& engine, const std::string& runtime) {
    GUARD_TRY_ASSIGN(const auto cache, cache_folder());
    GUARD_TRY_ASSIGN(const std::string boot, read_file("/proc/sys/kernel/random/boot_id", 64));
    const std::string what = fmt::format(
        "{}\n{}\n{}\n{}\n{}", engine.endpoint.url(), engine.info->version, boot, runtime, init_binary_sha256());
    return cache / "runtimes" / sha256_hex(what);
  }

  docker::EngineCandidates candidates() const {
    if (options_.engine.empty()) return docker::engine_candidates(process_environment());
    docker::EngineCandidates named;
    named.endpoints = {options_.engine};
    named.explicitly_named = true;
    return named;
  }

  static Result<docker::ImageInfo> find_image(const SandboxSpec& spec, docker::EngineClient& client) {
    const std::string& name = spec.image.reference.empty() ? spec.image.id : spec.image.reference;
    const auto missing = [&name](std::string sentence) {
      return Error(ErrorCode::image_missing, std::move(sentence)).detail("image", name);
    };
    if (name.empty()) return missing("no image was named");
    GUARD_TRY_ASSIGN(auto image, client.inspect_image(name, within_run(spec, kCallLimit)));
    if (!image) return missing(fmt::format("the container engine has no image {}", name));
    if (!spec.image.id.empty() && image->id != spec.image.id) {
      return missing(fmt::format("the image {} is {}, not the expected {}", name, image->id, spec.image.id));
    }
    if (image->declares_volumes) {
      return Error(ErrorCode::environment_creation_failed,
          fmt::format("the image {} declares volumes, which would be writable without limit", name))
          .hint("build an image without VOLUME, for instance with `guard image build`");
    }
    return *std::move(image);
  }

  // Returns the id of the run's own image.
  static Result<std::string> send_files(const SandboxSpec& spec, RunParts& parts, const std::string& reference) {
    const docker::ImageInfo& base = parts.image;
    if (base.has_triggers) {
      return Error(ErrorCode::environment_creation_failed,
          "the image has ONBUILD triggers, which would run unconfined when files are added to it")
          .hint("build an image without ONBUILD, for instance with `guard image build`");
    }
    GUARD_TRY_ASSIGN(const auto init, init_binary_path());
    GUARD_TRY_ASSIGN(const auto labels, labels_of(spec));
    GUARD_TRY_ASSIGN(const StagedContext context, stage_context(spec, base.id, init, kInitPath, labels, parts.cancel));
    return parts.client
        .build_image(context.tar.get(), context.bytes, reference, within_run(spec, kSendLimit, kSendSlack))
        .context("sending what will run to the engine");
  }

  Result<ExecResult> run_in(const SandboxSpec& spec, RunParts& parts, ByteSink& out, ByteSink& err) const {
    GUARD_TRY_ASSIGN(
        const auto config, config_for(spec, *parts.engine.info, parts.shown, parts.image, options_.runtime));
    ScopedContainer container(parts.ending, docker_container_name(spec.run_id));
    if (!parts.engine.endpoint.is_remote()) {
      GUARD_TRY_ASSIGN(std::string owner, run_owner(spec.run_id));
      container.own_inits_of(std::move(owner));
    }
    auto result = run_container(spec, config, parts, container, out, err);
    begin_stage(spec.timeline, "removal");
    auto removed = container.remove(result ? SoFar::well : SoFar::failed);
    return with_removal(std::move(result), std::move(removed));
  }

  static Result<ExecResult> run_container(const SandboxSpec& spec, const docker::ContainerConfig& config,
      RunParts& parts, ScopedContainer& container, ByteSink& out, ByteSink& err) {
    const docker::Endpoint& endpoint = parts.engine.endpoint;
    docker::EngineClient& client = parts.client;
    docker::EngineClient& ending = parts.ending;
    begin_stage(spec.timeline, "create");
    GUARD_TRY_ASSIGN(const std::string id, create_container(config, spec, client, container));
    begin_stage(spec.timeline, "start");
    if (!config.runtime.empty() && !endpoint.is_remote()) container.watch_processes_of(id);
    GUARD_TRY_ASSIGN(const auto attachment, engine_failed(client.attach(id, within_run(spec, kCallLimit))));
    const auto begun = SteadyClock::now();
    GUARD_TRY(engine_failed(client.start(id, within_run(spec, kStartLimit))));

    InitStream init(out, err, spec.limits.output_flood_bytes, spec.report, spec.collect);
    init.expect_programs(spec.each.size(), spec.program_ended);
    init.note_stages(spec.timeline);
    if (spec.input_descriptor >= 0) init.expect_input();
    if (!config.runtime.empty()) {
      InitStream::TagKey key;
      if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) {
        return Error::from_errno(ErrorCode::io_error, "getrandom", errno);
      }
      init.expect_tags(key);
      GUARD_TRY(engine_failed(attachment->write({reinterpret_cast<const char*>(key.data()), key.size()})));
    }
    Pump pump(spec, ending, id, init);
    if (config.runtime.starts_with("runsc")) pump.expect_another_kernel(parts.engine.info->kernel);
    if (auto pumped = pump.run(*attachment, parts.cancel); !pumped) {
      if (!init.forged()) {
        return engine_failed(
            std::move(pumped).context(fmt::format("asking the container engine at {}", endpoint.name())).error());
      }
      // Nobody but the program can have written it: that is its doing, and no failure of the engine's.
      ExecResult forged;
      forged.outcome = {OutcomeKind::violation, 0, "the run wrote into the stream of the sandbox's init"};
      forged.wall = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - begun);
      init.take_into(forged);
      return forged;
    }
    // The stream's end is not the container's: the engine may have dropped it.
    GUARD_TRY(engine_failed(ending.wait(id, within_run(spec, kKillLimit))));
    GUARD_TRY_ASSIGN(const auto state, engine_failed(ending.inspect_container(id, within_run(spec, kCallLimit))));
    if (state.running) return Error(ErrorCode::execution_failed, "the container runs on after its end");

    ExecResult result;
    GUARD_TRY_ASSIGN(result.outcome, conclude(spec, pump, state, init, init.finish()));
    result.wall = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - begun);
    init.take_into(result);
    add_container_limits(spec, result);
    add_folder_limits(spec.limits, result);
    return result;
  }

  DockerOptions options_;
};

}  // namespace

SandboxProbe sandbox_probe(const docker::EngineProbe& engine) {
  SandboxProbe probe;
  probe.state = engine.state == docker::EngineState::available ? ProbeState::available
      : engine.state == docker::EngineState::absent            ? ProbeState::absent
                                                               : ProbeState::unknown;
  probe.reason = engine.reason;
  probe.remedy = engine.remedy;
  probe.endpoint = engine.endpoint.url();
  if (!engine.info) return probe;
  const auto said = [](bool value) { return value ? "true" : "false"; };
  probe.version = engine.info->version;
  probe.facts = {{"api", engine.info->api_version}, {"cgroups", "v" + engine.info->cgroup_version},
      {"seccomp", said(engine.info->seccomp)}, {"apparmor", said(engine.info->apparmor)},
      {"rootless", said(engine.info->rootless)}};
  return probe;
}

std::unique_ptr<Sandbox> make_docker_sandbox(DockerOptions options) {
  return std::make_unique<DockerSandbox>(std::move(options));
}

}  // namespace guard
