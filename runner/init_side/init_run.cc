#include "runner/init_side/init_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "common/text/text.h"
#include "runner/egress/egress_relay.h"
#include "runner/init_side/init_process.h"
#include "runner/init_side/init_stream.h"
#include "runner/init_side/program_input.h"
#include "runner/process/process_tree.h"

namespace guard {
namespace {

constexpr milliseconds kTick{50};
// Init forwards TERM and kills after the grace by itself; only if it can't do that any more we do.
constexpr milliseconds kKillSlack{2'000};
// Between the end of the one and of the other: the exit frame, the end of the stream, the child.
constexpr milliseconds kLingerSpan{5'000};
constexpr milliseconds kLostSpan{2'000};
class Runner {
 public:
  Runner(const SandboxSpec& spec, const InitRun& run, ByteSink& out, ByteSink& err, const CancelToken& cancel)
      : spec_(spec),
        run_(run),
        cancel_(cancel),
        init_(run.cgroup, run.info_fd),
        stream_(out, err, spec.limits.output_flood_bytes, spec.report, spec.collect),
        input_(spec.input_descriptor) {
    if (spec.input_descriptor >= 0) stream_.expect_input();
    stream_.note_stages(spec.timeline);
    stream_.expect_programs(spec.each.size(), [this] { end_of_program(); });
  }

  Result<ExecResult> run();

 private:
  Result<void> start();
  void pump();
  void read_frames();
  void send_input();
  void lose_line();
  void look_at_limits();
  void look_at_limits_now();
  std::optional<OutcomeKind> limit_hit() const;
  void end_of_program();
  void end_run(OutcomeKind why);
  void fail(Error error);
  void kill_now();
  Deadline next_wake() const;
  Result<Outcome> decide();

  const SandboxSpec& spec_;
  const InitRun& run_;
  const CancelToken& cancel_;
  InitProcess init_;
  InitStream stream_;
  ProgramInput input_;
  std::unique_ptr<EgressRelay> relay_;

  SteadyClock::time_point began_ = SteadyClock::now();
  Deadline timeout_ = Deadline::never();
  Deadline kill_at_ = Deadline::never();
  Deadline linger_until_ = Deadline::never();
  Deadline next_look_ = Deadline::after(kTick);
  std::optional<Deadline> line_lost_;
  bool checked_ = false;  // the hello was held against what a sandbox must be
  TermSent term_sent_ = TermSent::no;
  std::optional<OutcomeKind> why_;
  bool was_ready_ = false;  // when we ended it
  std::size_t programs_ended_ = 0;
  std::optional<std::pair<std::size_t, OutcomeKind>>
      spender_;  // of SandboxSpec::each: who hit a limit before the next one began
  std::optional<Error> error_;
};

Result<void> Runner::start() {
  if (spec_.egress) {
    GUARD_TRY_ASSIGN(
        relay_, EgressRelay::create(spec_.egress, [this](std::string_view frames) { return init_.send(frames); }));
    stream_.expect_connections([this](std::uint32_t id, std::string_view said) { return relay_->push(id, said); });
  }
  begin_stage(spec_.timeline, "start");
  GUARD_TRY(init_.start(run_.child));
  began_ = SteadyClock::now();
  timeout_ = Deadline::after(spec_.timeout);
  return ok();
}

// A PID namespace is gone with its init. On the host the end of the life line makes init kill what descends from it;
// only if that takes too long we do, before the init, because what it has adopted can't be found any more once it is
// gone.
void Runner::kill_now() {
  if (run_.info_fd < 0 && init_.has_life_line()) {
    init_.cut_life_line();
    kill_at_ = Deadline::after(kKillSlack);
    return;
  }
  init_.kill(Deadline::after(kLingerSpan));
  kill_at_ = Deadline::never();
  linger_until_ = linger_until_.sooner(Deadline::after(kLingerSpan));
}

void Runner::end_run(OutcomeKind why) {
  if (why_ || error_) return;
  why_ = why;
  was_ready_ = stream_.hello_seen();
  const bool may_say_goodbye = why == OutcomeKind::timed_out || why == OutcomeKind::cancelled;
  if (!may_say_goodbye || !init_.can_be_signalled()) {
    kill_now();
    return;
  }
  term_sent_ = TermSent::yes;
  kill_at_ = Deadline::after(spec_.grace + kKillSlack);
  init_.signal(SIGTERM);
}

void Runner::fail(Error error) {
  if (error_) return;
  error_ = std::move(error);
  kill_now();
}

void Runner::read_frames() {
  std::array<char, 128ul * 1024> buffer;
  const ssize_t size = ::read(init_.frames(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    init_.frames_ended();
    linger_until_ = linger_until_.sooner(Deadline::after(kLingerSpan));
    return;
  }
  // After a failure the stream is only drained: nothing more may be pushed.
  if (error_) return;
  if (auto pushed = stream_.push(std::span(buffer.data(), static_cast<std::size_t>(size))); !pushed) {
    fail(std::move(pushed).error());
    return;
  }
  if (stream_.input_wanted()) input_.wanted();
  if (stream_.hello_seen() && !checked_) {
    checked_ = true;
    // One that was sent earlier is lost: a PID 1 that listens to no signal yet gets none.
    if (term_sent_ == TermSent::yes) init_.signal(SIGTERM);
    if (run_.confinement == Confinement::must_be_proved) {
      if (auto confined = check_confinement(stream_.hello()); !confined) fail(std::move(confined).error());
    }
  }
  if (stream_.flooded()) end_run(OutcomeKind::output_flood);
  if (spender_) end_run(spender_->second);
  if (stream_.exit_seen()) linger_until_ = linger_until_.sooner(Deadline::after(kLingerSpan));
}

// Init hears nothing any more. Where it has gone, its stream says how; else the run means nothing.
void Runner::lose_line() {
  if (!line_lost_) line_lost_ = Deadline::after(kLostSpan);
}

// Init has asked for it, and reads it unless it is busy between two programs.
void Runner::send_input() {
  auto frame = input_.next_frame();
  if (!frame) return fail(std::move(frame).error());
  if (!*frame) return;
  if (!init_.send(**frame)) lose_line();
}

// Past any of these the verdict can't change any more, so the run ends.
void Runner::look_at_limits() {
  if (init_.child_ended() || why_ || error_ || !next_look_.passed()) return;
  const auto began = SteadyClock::now();
  look_at_limits_now();
  // On a machine with very many processes a look takes long: never more than a tenth of the time.
  const auto took = std::chrono::ceil<milliseconds>(SteadyClock::now() - began);
  next_look_ = Deadline::after(std::max(kTick, took * 10));
}

std::optional<OutcomeKind> Runner::limit_hit() const {
  if (run_.cgroup.killed_for_memory()) return OutcomeKind::out_of_memory;
  if (run_.cgroup.hit_pids_limit()) return OutcomeKind::pids_limit;
  return std::nullopt;
}

// Looked at here and not with the next tick, when another program would be blamed.
void Runner::end_of_program() {
  const std::size_t index = programs_ended_++;
  if (!spender_) {
    if (const auto hit = limit_hit()) spender_.emplace(index, *hit);
  }
  if (spec_.program_ended) spec_.program_ended();
}

void Runner::look_at_limits_now() {
  if (const auto hit = limit_hit()) return end_run(*hit);
  const bool watch_memory = !run_.cgroup.holds("memory");
  const bool watch_pids = !run_.cgroup.holds("pids");
  if ((!watch_memory && !watch_pids) || init_.pid() <= 1) return;
  const TreeUsage usage = measure_tree(init_.pid());
  if (!usage.complete)
    return fail(Error(ErrorCode::execution_failed, "what the run uses could not be measured: no descriptor is left")
                    .hint("raise the limit of open files (`ulimit -n`)"));
  if (watch_memory && usage.memory_bytes > spec_.limits.memory_bytes) return end_run(OutcomeKind::out_of_memory);
  if (watch_pids && usage.tasks >= spec_.limits.pids) end_run(OutcomeKind::pids_limit);
}

Deadline Runner::next_wake() const {
  Deadline wake = linger_until_.sooner(kill_at_);
  if (!why_ && !error_) wake = wake.sooner(timeout_);
  if (!init_.child_ended() && !why_ && !error_) wake = wake.sooner(next_look_);
  return wake;
}

void Runner::pump() {
  while (init_.frames() >= 0 || !init_.child_ended()) {
    std::array<pollfd, 6> fds = {pollfd{init_.frames(), POLLIN, 0}, pollfd{init_.complaints(), POLLIN, 0},
        pollfd{init_.info(), POLLIN, 0}, pollfd{init_.child_descriptor(), POLLIN, 0},
        pollfd{why_ || error_ ? -1 : cancel_.fd(), POLLIN, 0},
        pollfd{why_ || error_ || !init_.has_life_line() ? -1 : input_.descriptor(), POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), next_wake().poll_timeout()) < 0 && errno != EINTR) {
      fail(Error::from_errno(ErrorCode::environment_creation_failed, "poll", errno));
    }
    if (init_.info() >= 0 && fds[2].revents != 0) {
      if (auto read = init_.read_info(); !read) fail(std::move(read).error());
    }
    if (init_.frames() >= 0 && fds[0].revents != 0) read_frames();
    if (init_.complaints() >= 0 && fds[1].revents != 0) init_.read_complaints();
    if (init_.has_life_line() && fds[5].revents != 0) send_input();
    if (!init_.child_ended() && fds[3].revents != 0) {
      init_.child_has_ended();
      linger_until_ = linger_until_.sooner(Deadline::after(kLingerSpan));
    }
    if (relay_ && relay_->failed()) lose_line();
    if (line_lost_ && line_lost_->passed() && !why_ && init_.frames() >= 0 && !stream_.exit_seen())
      fail(Error(ErrorCode::execution_failed, "the sandbox's init did not listen any more"));
    if (cancel_.cancelled()) end_run(OutcomeKind::cancelled);
    if (timeout_.passed()) end_run(OutcomeKind::timed_out);
    look_at_limits();
    if (kill_at_.passed()) kill_now();
    if (linger_until_.passed()) break;
  }
}

Result<Outcome> Runner::decide() {
  if (error_) return *std::move(error_);
  const auto forced = [this](OutcomeKind kind) { return why_ && *why_ == kind; };
  if (forced(OutcomeKind::cancelled)) return Outcome{OutcomeKind::cancelled, cancel_.signal_number(), {}};
  std::optional<Outcome> natural;
  if (stream_.exit_seen()) {
    auto outcome = outcome_of(*stream_.exit(), term_sent_, spec_.timeout);
    if (!outcome) return std::move(outcome).error();
    natural = std::move(*outcome);
  }
  if (!was_ready_ && forced(OutcomeKind::timed_out)) return not_ready_in_time(spec_.timeout);
  if (!stream_.hello_seen()) {
    return Error(ErrorCode::environment_creation_failed,
        fmt::format("the sandbox could not be made: {}",
            init_.complaint().empty() ? "it ended without a word" : printable(init_.complaint())))
        .detail("stderr", init_.complaint());
  }
  if (natural && natural->kind == OutcomeKind::violation) return *natural;
  if (forced(OutcomeKind::output_flood) || stream_.flooded()) {
    return Outcome{OutcomeKind::output_flood, static_cast<std::int64_t>(spec_.limits.output_flood_bytes), {}};
  }
  if (forced(OutcomeKind::out_of_memory) || run_.cgroup.killed_for_memory()) {
    return Outcome{OutcomeKind::out_of_memory, static_cast<std::int64_t>(spec_.limits.memory_bytes), {}};
  }
  if (forced(OutcomeKind::pids_limit) || run_.cgroup.hit_pids_limit()) {
    return Outcome{OutcomeKind::pids_limit, spec_.limits.pids, {}};
  }
  if (forced(OutcomeKind::timed_out)) return Outcome{OutcomeKind::timed_out, spec_.timeout.count(), {}};
  GUARD_TRY(stream_.finish());
  return *natural;
}

Result<ExecResult> Runner::run() {
  GUARD_TRY(start());
  pump();
  init_.cut_life_line();  // no send waits any more
  // Whatever is still there goes now; a well-behaved init has left nothing.
  if (!init_.child_ended()) kill_now();
  if (!init_.finish(Deadline::after(kLingerSpan))) {
    return Error(ErrorCode::environment_creation_failed, "processes of the run could not be killed");
  }
  if (relay_ && stream_.programs_ended_by_themselves()) relay_->finish();
  relay_.reset();
  ExecResult result;
  result.wall = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - began_);
  GUARD_TRY_ASSIGN(result.outcome, decide());
  result.memory_peak_bytes = run_.cgroup.memory_peak_bytes();
  stream_.take_into(result);
  result.enforced_by = limits_of_init();
  run_.cgroup.add_enforced(result.enforced_by);
  if (spender_ && spender_->first < result.earlier.size()) {
    Outcome& outcome = result.earlier[spender_->first].outcome;
    const bool passed = outcome.kind == OutcomeKind::exited && outcome.value == 0;
    if (!passed && result.outcome.kind == spender_->second) outcome = result.outcome;
  }
  return result;
}

}  // namespace

Result<ExecResult> run_under_init(
    const SandboxSpec& spec, const InitRun& run, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  return Runner(spec, run, out, err, cancel).run();
}

}  // namespace guard
