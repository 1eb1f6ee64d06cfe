// Tasks over a connection: what a client may do to the others and to `guard serve`.
#include "serve/task_stream.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "runner/tasks/task_table.h"

namespace guard::serve {
namespace {

using task_protocol::FrameType;

struct World {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t live = 0;
  std::size_t killed = 0;

  bool wait_for_none() {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, milliseconds(10'000), [this] { return live == 0; });
  }
};

// Echoes what it reads; "flood" prints without an end. Ends with its input, or by a signal.
class EchoTask final : public Task {
 public:
  EchoTask(World& world, bool floods) : world_(world), floods_(floods) {
    const std::lock_guard lock(world_.mutex);
    ++world_.live;
  }
  EchoTask(const EchoTask&) = delete;
  EchoTask& operator=(const EchoTask&) = delete;
  ~EchoTask() override {
    const std::lock_guard lock(world_.mutex);
    if (!over_) ++world_.killed;  // as by a signal: see Task
    --world_.live;
    world_.changed.notify_all();
  }

  Result<std::optional<Piece>> read(Deadline) override {
    std::unique_lock lock(world_.mutex);
    world_.changed.wait(lock, [this] { return floods_ || !held_.empty() || over_; });
    Piece piece;
    piece.bytes = floods_ ? std::string(100'000, 'x') : std::exchange(held_, {});
    if (killed_ || piece.bytes.empty()) return std::optional<Piece>();
    return std::optional(std::move(piece));
  }
  Result<void> write_input(std::string_view bytes, Deadline) override {
    const std::lock_guard lock(world_.mutex);
    held_ += bytes;
    world_.changed.notify_all();
    return ok();
  }
  Result<void> close_input() override {
    const std::lock_guard lock(world_.mutex);
    over_ = true;
    world_.changed.notify_all();
    return ok();
  }
  Result<void> signal(int) override {
    const std::lock_guard lock(world_.mutex);
    over_ = killed_ = true;
    ++world_.killed;
    world_.changed.notify_all();
    return ok();
  }
  Result<void> resize(TerminalSize) override { return ok(); }
  bool ended() const override { return over_; }
  Result<TaskEnd> end() const override { return TaskEnd(); }

 private:
  World& world_;
  const bool floods_;
  std::string held_;
  std::atomic<bool> over_ = false;
  bool killed_ = false;
};

class TaskStream : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    client_.reset(ends[0]);
    server_ = std::thread([this, fd = std::make_shared<UniqueFd>(ends[1])] {
      serve_tasks(
          fd->get(),
          [this](const TaskSpec& spec) -> Result<std::unique_ptr<Task>> {
            if (spec.argv.front() == "refused") return Error(ErrorCode::input_invalid, "refused");
            return std::unique_ptr<Task>(std::make_unique<EchoTask>(world_, spec.argv.front() == "flood"));
          },
          [this] { return stopping_.load(); });
      gone_ = true;
    });
  }
  void TearDown() override {
    client_.reset();
    server_.join();
    EXPECT_EQ(world_.live, 0u);
  }

  static TaskSpec spec(const char* word) {
    TaskSpec task;
    task.argv = {word};
    task.input = true;
    return task;
  }

  void say(const std::string& bytes) const {
    EXPECT_EQ(::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  void start(std::uint32_t id, const char* word) const {
    say(encode_frame(FrameType::start, id, *encode_start(spec(word))));
  }

  World world_;
  UniqueFd client_;
  std::thread server_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> gone_ = false;
};

TEST_F(TaskStream, IsATaskAsAnyOther) {
  const StartTask start = tasks_over(std::move(client_));
  const auto echo = start(spec("echo"));
  ASSERT_TRUE(echo);
  std::string sent;
  for (int i = 0; i < 20; ++i) {
    sent += std::string(50'000, static_cast<char>('a' + i));
    ASSERT_TRUE((*echo)->write_input(std::string(50'000, static_cast<char>('a' + i)), Deadline::never()));
  }
  std::string got;
  while (got.size() < sent.size()) {
    const auto piece = (*echo)->read(Deadline::after(milliseconds(10'000)));
    ASSERT_TRUE(piece && *piece);
    got += (*piece)->bytes;
  }
  EXPECT_TRUE(got == sent);
  ASSERT_TRUE((*echo)->close_input());
  const auto rest = (*echo)->read(Deadline::after(milliseconds(10'000)));
  EXPECT_TRUE(rest && !*rest);
  EXPECT_TRUE((*echo)->end());
  const auto refused = start(spec("refused"));
  ASSERT_TRUE(refused);
  const auto none = (*refused)->read(Deadline::after(milliseconds(10'000)));
  EXPECT_TRUE(none && !*none);
  EXPECT_EQ((*refused)->end().error().code(), ErrorCode::input_invalid);
}

TEST_F(TaskStream, OneThatIsNotReadHoldsUpItselfAlone) {
  const StartTask start = tasks_over(std::move(client_));
  const auto flood = start(spec("flood"));
  const auto echo = start(spec("echo"));
  ASSERT_TRUE(flood && echo);
  std::this_thread::sleep_for(milliseconds(100));
  ASSERT_TRUE((*echo)->write_input("hello", Deadline::never()));
  const auto piece = (*echo)->read(Deadline::after(milliseconds(10'000)));
  ASSERT_TRUE(piece && *piece);
  EXPECT_EQ((*piece)->bytes, "hello");
}

TEST_F(TaskStream, KillsWhatRunsWhenTheClientHasGone) {
  start(1, "echo");
  start(2, "flood");
  std::this_thread::sleep_for(milliseconds(100));
  client_.reset();
  EXPECT_TRUE(world_.wait_for_none());
  EXPECT_EQ(world_.killed, 2u);
}

// What is refused is said like everything else: not by who reads.
TEST_F(TaskStream, IsReadWhereTheClientReadsNothing) {
  start(1, "flood");
  start(2, "echo");
  std::this_thread::sleep_for(milliseconds(100));
  start(3, "refused");
  say(encode_frame(FrameType::signal, 2, "\x0f"));
  std::unique_lock lock(world_.mutex);
  EXPECT_TRUE(world_.changed.wait_for(lock, milliseconds(3'000), [this] { return world_.killed == 1; }));
}

// A client may speak on before it knows.
TEST_F(TaskStream, LetsItsClientSpeakOfWhatWasRefused) {
  for (std::uint32_t id = 1; id < 200; ++id) {
    say(encode_frame(FrameType::start, id, *encode_start(spec("refused"))) +
        encode_frame(FrameType::signal, id, "\x09") + encode_frame(FrameType::resize, id, std::string(4, '\x01')) +
        encode_frame(FrameType::input, id, "x"));
  }
  start(1'000, "echo");
  say(encode_frame(FrameType::signal, 1'000, "\x0f"));
  std::unique_lock lock(world_.mutex);
  EXPECT_TRUE(world_.changed.wait_for(lock, milliseconds(10'000), [this] { return world_.killed == 1; }));
}

TEST_F(TaskStream, EndsWhenServeStops) {
  stopping_ = true;
  for (int i = 0; i < 100 && !gone_; ++i) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_TRUE(gone_);
}

// Each ends the connection, and with it the task that ran.
class TaskStreamNonsense : public TaskStream, public ::testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(Kinds, TaskStreamNonsense, ::testing::Range(0, 9));

TEST_P(TaskStreamNonsense, EndsTheConnection) {
  start(1, "echo");
  switch (GetParam()) {
    case 0: say(std::string(64, 'x')); break;
    case 1: start(1, "echo"); break;
    case 2: say(encode_frame(FrameType::start, 2, "half a start")); break;
    case 3: say(encode_frame(FrameType::window, 1, encode_window(FrameType::out, 1))); break;
    case 4:
      start(2, "flood");
      for (int i = 0; i < 4; ++i) say(encode_frame(FrameType::window, 2, encode_window(FrameType::out, 1u << 31)));
      break;
    case 5: say(encode_frame(FrameType::input, 1, std::string(task_protocol::kInputWindowBytes + 1, 'x'))); break;
    case 6: say(encode_frame(FrameType::out, 1, "x")); break;
    case 7: say(std::string("I\0\0\0\xff\xff\xff\xff", 8)); break;
    default:
      for (std::uint32_t id = 2; id < 200; ++id) {
        const std::string frame = encode_frame(FrameType::start, id, *encode_start(spec("echo")));
        if (::send(client_.get(), frame.data(), frame.size(), MSG_NOSIGNAL) < 0) break;
      }
  }
  for (int i = 0; i < 200 && !gone_; ++i) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_TRUE(gone_);
  EXPECT_TRUE(world_.wait_for_none());
}

}  // namespace
}  // namespace guard::serve
