#include "runner/tasks/staying_sandbox.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "common/byte_sink.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "runner/egress/egress_relay.h"
#include "runner/init_side/init_stream.h"
#include "runner/tasks/task_table.h"

namespace guard {
namespace {

// Limits that are watched are looked at so often while tasks run.
constexpr milliseconds kTick{100};
constexpr milliseconds kIdleTick{1'000};
constexpr milliseconds kLookAtCancel{50};

// What a send may still need when the sandbox object has gone: a task outlives it.
struct Line {
  Line(std::unique_ptr<SandboxLink> made, UniqueFd event) : link(std::move(made)), wake(std::move(event)) {}

  Result<void> send(std::string_view frame) {
    auto sent = link->send(frame);
    if (sent) return sent;
    deaf = true;
    wake_up();
    return sent;
  }

  void wake_up() const {
    const std::uint64_t one = 1;
    if (::write(wake.get(), &one, sizeof one) < 0) {
      // It is readable already.
    }
  }

  const std::unique_ptr<SandboxLink> link;
  const UniqueFd wake;
  std::atomic<bool> deaf = false;  // init could not be told something: the sandbox is of no use any more
};

class StayingSandbox final : public OpenSandbox {
 public:
  StayingSandbox(const std::shared_ptr<Line>& line, std::unique_ptr<EgressRelay> relay)
      : line_(line),
        table_(std::make_shared<TaskTable>([line](std::string_view frame) { return line->send(frame); })),
        relay_(std::move(relay)) {
    if (relay_)
      table_->expect_connections([this](std::uint32_t id, std::string_view said) { return relay_->push(id, said); });
    thread_ = std::thread([this] { serve(); });
  }
  StayingSandbox(const StayingSandbox&) = delete;
  StayingSandbox& operator=(const StayingSandbox&) = delete;
  ~StayingSandbox() override { static_cast<void>(close(milliseconds(0))); }

  // Until init has said what it sees. CANCELLED, or why there is no sandbox.
  Result<void> wait_until_ready(Deadline deadline, const CancelToken& cancel) {
    std::unique_lock lock(mutex_);
    while (state_ == State::starting) {
      if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped while the sandbox was started");
      if (deadline.passed()) return Error(ErrorCode::execution_timeout, "the sandbox was not ready in time");
      changed_.wait_for(lock, std::min(kLookAtCancel, deadline.remaining()));
    }
    if (state_ == State::open) return ok();
    return fault_ ? *fault_ : Error(ErrorCode::environment_creation_failed, "the sandbox ended at once");
  }

  Result<std::unique_ptr<Task>> start(const TaskSpec& spec) override { return table_->start(spec); }

  bool alive() const override {
    const std::lock_guard lock(mutex_);
    return state_ == State::open;
  }

  std::optional<Error> fault() const override {
    const std::lock_guard lock(mutex_);
    return fault_;
  }

  void on_end(std::function<void()> call) override {
    {
      const std::lock_guard lock(mutex_);
      if (state_ != State::ended) {
        on_end_ = std::move(call);
        return;
      }
      if (closing_) return;
    }
    call();
  }

  std::size_t running() const override { return table_->running(); }

  Result<void> close(milliseconds grace) override {
    const std::lock_guard one_at_a_time(closing_mutex_);
    if (!thread_.joinable()) return ended_;
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    if (grace.count() > 0 && alive() && running() > 0) {
      table_->signal_all(SIGTERM);
      table_->wait_for_all(Deadline::after(grace));
    }
    stop_ = true;
    line_->wake_up();
    thread_.join();
    return ended_;
  }

  // Both are set before anybody has this sandbox.
  const std::map<std::string, std::string>& seen_inside() const override { return hello_; }
  const std::map<std::string, std::string>& enforced_by() const override { return enforced_by_; }

 private:
  enum class State : std::uint8_t { starting, open, ended };

  void serve() {
    const Result<void> served = serve_to_the_end();
    Error why = served ? Error(ErrorCode::environment_unavailable, "the sandbox was closed") : served.error();
    Result<void> ended = line_->link->end();
    relay_.reset();
    // What was complained of is read to its end only now.
    const bool is_refused = !served && served.error().details().contains("unproved");  // init has said all it had to
    if (const std::string said = line_->link->complaint(); !served && !is_refused && hello_.empty() && !said.empty()) {
      why = Error(Error(
          ErrorCode::environment_creation_failed, fmt::format("{}: {}", served.error().message(), printable(said)))
                      .detail("stderr", said));
    }
    table_->fail(why);
    std::function<void()> call;
    {
      const std::lock_guard lock(mutex_);
      state_ = State::ended;
      ended_ = std::move(ended);
      if (!served) fault_ = std::move(why);
      if (!closing_) call = std::move(on_end_);
    }
    changed_.notify_all();
    if (call) call();
  }

  Result<void> serve_to_the_end() {
    GUARD_TRY(line_->link->start());
    std::string bytes;
    Deadline next_look = Deadline::after(kTick);
    while (!stop_) {
      bytes.clear();
      GUARD_TRY_ASSIGN(const bool open, line_->link->receive(bytes, line_->wake.get(), next_look));
      if (!bytes.empty()) GUARD_TRY(take(bytes));
      if (stop_) break;
      if (line_->deaf || (relay_ && relay_->failed()))
        return Error(ErrorCode::environment_unavailable, "the sandbox was given up: its init did not listen any more");
      if (!open) return ended_by_itself();
      if (!next_look.passed()) continue;
      GUARD_TRY(line_->link->look());
      next_look = Deadline::after(table_->running() > 0 ? kTick : kIdleTick);
    }
    return ok();
  }

  Error ended_by_itself() const {
    return hello_.empty() ? Error(ErrorCode::environment_creation_failed, "the sandbox could not be made")
                          : Error(ErrorCode::environment_unavailable, "the sandbox has ended by itself");
  }

  Result<void> take(std::string_view bytes) {
    if (hello_.empty()) {
      first_ += bytes;
      const auto whole = first_frame_bytes();
      if (first_.size() < whole) return ok();
      GUARD_TRY(take_hello(std::string_view(first_).substr(0, whole)));
      bytes = std::string_view(first_).substr(whole);
    }
    return table_->push(std::span(bytes.data(), bytes.size()));
  }

  std::size_t first_frame_bytes() const {
    if (first_.size() < init_protocol::kHeaderBytes) return init_protocol::kHeaderBytes;
    const std::size_t payload = init_protocol::read_number(first_.data() + init_protocol::kLengthAt);
    return init_protocol::kHeaderBytes + std::min(payload, init_protocol::kFramePayloadMax + 1);
  }

  // As in every sandbox: the hello, or why init could not start.
  Result<void> take_hello(std::string_view frame) {
    StringSink none;
    InitStream stream(none, none, 1, ReportChannel::off);
    GUARD_TRY(stream.push(std::span(frame.data(), frame.size())));
    if (stream.exit_seen()) {
      auto outcome = outcome_of(*stream.exit(), TermSent::no, milliseconds(0));
      if (!outcome) return std::move(outcome).error();
    }
    if (!stream.hello_seen())
      return Error(ErrorCode::protocol_error, "the sandbox's init spoke nonsense: no hello at the start");
    GUARD_TRY(check_confinement(stream.hello()));
    {
      const std::lock_guard lock(mutex_);
      hello_ = stream.hello();
      enforced_by_ = line_->link->enforced_by(hello_);
      state_ = State::open;
    }
    changed_.notify_all();
    return ok();
  }

  const std::shared_ptr<Line> line_;
  const std::shared_ptr<TaskTable> table_;
  std::unique_ptr<EgressRelay> relay_;  // of the thread alone, once that runs
  std::string first_;                   // of the thread alone
  std::atomic<bool> stop_ = false;

  std::mutex closing_mutex_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::starting;
  bool closing_ = false;
  std::optional<Error> fault_;
  std::function<void()> on_end_;
  Result<void> ended_ = ok();
  std::map<std::string, std::string> hello_;
  std::map<std::string, std::string> enforced_by_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace

Result<std::unique_ptr<OpenSandbox>> open_over(
    std::unique_ptr<SandboxLink> link, TakeConnection egress, milliseconds limit, const CancelToken& cancel) {
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return Error::from_errno(ErrorCode::environment_creation_failed, "eventfd", errno);
  const auto line = std::make_shared<Line>(std::move(link), std::move(wake));
  std::unique_ptr<EgressRelay> relay;
  if (egress) {
    GUARD_TRY_ASSIGN(
        relay, EgressRelay::create(std::move(egress), [line](std::string_view frames) { return line->send(frames); }));
  }
  auto sandbox = std::make_unique<StayingSandbox>(line, std::move(relay));
  GUARD_TRY(sandbox->wait_until_ready(Deadline::after(limit), cancel));
  return std::unique_ptr<OpenSandbox>(std::move(sandbox));
}

}  // namespace guard
