// Connections to the outside of a sandbox without a network: each reaches who takes it, whole, and nothing else gets
// out. On every backend that has one, for one program and for a sandbox that stays.
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "runner/egress/egress_protocol.h"
#include "runner/egress/egress_relay.h"
#include "runner/files/scratch_file.h"
#include "runner/init_side/init_protocol.h"
#include "runner/tasks/open_sandbox.h"
#include "tests/support/runner/every_sandbox.h"

namespace guard {
namespace {

using testing::case_program;

// Takes connections, each in a thread of its own; all are joined in the end.
class Takers {
 public:
  explicit Takers(std::function<void(int)> body) : body_(std::move(body)) {}
  ~Takers() { join(); }

  TakeConnection function() {
    return [this](UniqueFd connection) {
      const std::lock_guard lock(mutex_);
      ++taken_;
      threads_.emplace_back([this, held = std::make_shared<UniqueFd>(std::move(connection))] { body_(held->get()); });
    };
  }
  void join() {
    std::vector<std::thread> all;
    {
      const std::lock_guard lock(mutex_);
      all.swap(threads_);
    }
    for (std::thread& thread : all) thread.join();
  }
  std::size_t taken() {
    const std::lock_guard lock(mutex_);
    return taken_;
  }

 private:
  const std::function<void(int)> body_;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::size_t taken_ = 0;
};

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void echo(int fd) {
  std::vector<char> buffer(64ul * 1024);
  for (;;) {
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) return;
    send_all(fd, {buffer.data(), static_cast<std::size_t>(got)});
  }
}

class EgressTest : public testing::EverySandbox {
 protected:
  std::vector<std::filesystem::path> programs() const override { return {case_program("dials")}; }

  SandboxSpec dialling(Takers& takers, std::vector<std::string> words) {
    words.insert(words.begin(), "dials");
    SandboxSpec wanted = spec(std::move(words));
    wanted.env = {{"PATH", "/bin"}};
    wanted.network = Network::allowlist;
    wanted.egress = takers.function();
    return wanted;
  }

  void expect_output(const SandboxSpec& wanted, std::string_view output) {
    const auto result = run(wanted);
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
    EXPECT_EQ(result->outcome.value, 0);
    EXPECT_EQ(out_.text, output) << err_.text;
    EXPECT_EQ(result->enforced_by.at("network"), "namespace");
  }
};

INSTANTIATE_TEST_SUITE_P(In, EgressTest, testing::everywhere(), testing::name_of);

TEST_P(EgressTest, CarriesWhatIsSaidBothWays) {
  each([this] {
    for (const char* bytes : {"0", "1", "65536", "3000000"}) {
      Takers takers(echo);
      expect_output(dialling(takers, {"echo", "1", bytes}), "ok\n");
      EXPECT_EQ(takers.taken(), 1u);
    }
  });
}

TEST_P(EgressTest, CarriesManyAtOnce) {
  each([this] {
    Takers takers(echo);
    expect_output(dialling(takers, {"echo", "200", "100000"}), "ok\n");
    EXPECT_EQ(takers.taken(), 200u);
  });
}

// A flood stops at the window where the program reads slowly, and arrives whole; the taker has closed long before.
TEST_P(EgressTest, HandsOutWhatWasSentBeforeTheClose) {
  each([this] {
    Takers takers([](int fd) { send_all(fd, std::string(1'000'000, 'x')); });
    expect_output(dialling(takers, {"read"}), "1000000\n");
  });
}

// An answer that does not wait for the request still reaches the program before the close does.
TEST_P(EgressTest, AnswersThoughNobodyReadsTheRequest) {
  each([this] {
    Takers takers([](int fd) { send_all(fd, "no\n"); });
    expect_output(dialling(takers, {"talk", std::string(50'000, 'q')}), "no\n");
  });
}

TEST_P(EgressTest, EndsWithTheProgram) {
  each([this] {
    Takers takers(echo);  // each ends by the end of its connection, or this test hangs
    SandboxSpec wanted = dialling(takers, {"hold", "50"});
    wanted.timeout = milliseconds(1'500);
    wanted.grace = milliseconds(100);
    const auto result = run(wanted);
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(result->outcome.kind, OutcomeKind::timed_out);
    EXPECT_EQ(out_.text, "held\n");
    EXPECT_EQ(takers.taken(), 50u);
  });
}

TEST_P(EgressTest, TellsTheTakerThatTheProgramBrokeOff) {
  each([this] {
    std::atomic<int> ended = 0;
    Takers takers([&](int fd) {
      char word[4];
      EXPECT_EQ(::recv(fd, word, sizeof word, MSG_WAITALL), 4);
      send_all(fd, "a");
      if (::recv(fd, word, sizeof word, 0) <= 0) ++ended;
    });
    expect_output(dialling(takers, {"drop"}), "dropped\n");
    takers.join();
    EXPECT_EQ(ended, 1);
  });
}

// One program after another: a connection does not go from one to the next.
TEST_P(EgressTest, BeginsAfreshWithEachProgram) {
  each([this] {
    Takers takers(echo);
    SandboxSpec wanted = dialling(takers, {"echo", "3"});
    wanted.each = {"10", "100000", "20"};
    const auto result = run(wanted);
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(out_.text, "ok\nok\nok\n") << err_.text;
    EXPECT_EQ(takers.taken(), 9u);
  });
}

// Frames of connections do not go over half a frame of output: whoever reads would take the rest of it for frames.
TEST_P(EgressTest, EndsConnectionsBehindOutputThatIsOnItsWay) {
  each([this] {
    for (const int bytes : {70'000, 150'000}) {
      Takers takers([](int fd) {
        char word = 0;
        static_cast<void>(::recv(fd, &word, 1, 0));
      });
      out_ = {};
      out_.pause = milliseconds(1'700);  // longer than the last bytes of a connection are waited for
      const auto result = run(dialling(takers, {"leave", std::to_string(bytes), "0"}));
      ASSERT_TRUE(result) << result.error().to_string();
      EXPECT_EQ(result->outcome.kind, OutcomeKind::exited) << bytes;
      EXPECT_EQ(out_.text.size(), 6u + static_cast<std::size_t>(bytes));
    }
  });
}

// Neither has the other wait for its end.
TEST_P(EgressTest, GoesOnBesideAFloodOfOutput) {
  each([this] {
    Takers takers(echo);
    SandboxSpec wanted = dialling(takers, {"beside", "200000000"});
    wanted.limits.output_flood_bytes = 400u << 20;
    out_.kept_max = 0;
    const auto result = run(wanted);
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
    EXPECT_EQ(result->outcome.value, 0);
    EXPECT_LT(out_.seen, 200'000'000u);
  });
}

TEST_P(EgressTest, GoesOnBehindAProgramThatTookTooLong) {
  each([this] {
    Takers takers(echo);
    SandboxSpec wanted = dialling(takers, {"leave", "5"});
    wanted.each = {"60000", "0"};
    wanted.each_timeout = milliseconds(1'000);
    wanted.grace = milliseconds(100);
    const auto result = run(wanted);
    ASSERT_TRUE(result) << result.error().to_string();
    ASSERT_EQ(result->earlier.size(), 1u);
    EXPECT_EQ(result->earlier.front().outcome.kind, OutcomeKind::timed_out);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
    EXPECT_EQ(out_.text, "first\nOOOOOfirst\nOOOOO");
  });
}

// A program that ended in time was not too slow because a server is.
TEST_P(EgressTest, CountsNoTimeAfterTheProgram) {
  if (in_container()) GTEST_SKIP() << "a start takes too much of the second that shows it";
  each([this] {
    std::promise<void> over;
    Takers takers([until = over.get_future().share()](int) { until.wait(); });
    SandboxSpec wanted = dialling(takers, {"pour", "1800"});
    wanted.timeout = milliseconds(2'800);
    const auto result = run(wanted);
    over.set_value();
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(result->outcome.kind, OutcomeKind::exited) << to_string(result->outcome.kind);
  });
}

TEST_P(EgressTest, LeavesNoOtherWayOut) {
  each([this] {
    Takers takers(echo);
    expect_output(dialling(takers, {"others"}), "closed\nclosed\nclosed\nclosed\n");
    EXPECT_EQ(takers.taken(), 0u);
  });
}

// Input and connections share the life line.
TEST_P(EgressTest, GoesBesideTheInputOfTheProgram) {
  each([this] {
    Takers takers(echo);
    const auto file = memory_file("input", std::string(1'000'000, 'i'));
    ASSERT_TRUE(file);
    SandboxSpec wanted = dialling(takers, {"echo", "5", "500000"});
    wanted.input_descriptor = file->get();
    expect_output(wanted, "ok\n");
  });
}

TEST_P(EgressTest, IsRefusedWithoutSomebodyWhoTakes) {
  SandboxSpec wanted = spec({"dials", "others"});
  wanted.network = Network::allowlist;
  const auto refused = run(wanted);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::input_invalid);
}

class EgressOfStayingSandbox : public EgressTest {};
INSTANTIATE_TEST_SUITE_P(In, EgressOfStayingSandbox,
    ::testing::Values(testing::Where::docker, testing::Where::namespace_as_we_are, testing::Where::namespace_as_user,
        testing::Where::podman),
    testing::name_of);

TEST_P(EgressOfStayingSandbox, ServesTasksSideBySide) {
  each([this] {
    Takers takers(echo);
    SandboxSpec wanted = dialling(takers, {});
    wanted.argv.clear();
    wanted.mounts.clear();
    wanted.scratch.clear();
    const auto workspace = cache() / ("workspace-" + wanted.run_id);
    std::filesystem::create_directories(workspace);
    struct stat found {};
    ASSERT_EQ(::stat(workspace.c_str(), &found), 0);
    wanted.shared = {{workspace, "/workspace", {found.st_dev, found.st_ino}}};
    wanted.working_dir = "/workspace";
    auto sandbox = open_in(wanted);
    ASSERT_TRUE(sandbox) << sandbox.error().to_string();
    std::vector<std::unique_ptr<Task>> tasks;
    for (int i = 0; i < 8; ++i) {
      TaskSpec task;
      task.argv = {"dials", "echo", "20", "200000"};
      task.env = {{"PATH", "/bin"}};
      auto started = (*sandbox)->start(task);
      ASSERT_TRUE(started) << started.error().to_string();
      tasks.push_back(std::move(*started));
    }
    for (const auto& task : tasks) {
      const auto output = collect(*task, 1 << 16, Deadline::after(milliseconds(60'000)));
      ASSERT_TRUE(output) << output.error().to_string();
      EXPECT_EQ(output->out, "ok\n") << output->err;
    }
    EXPECT_EQ(takers.taken(), 160u);
    EXPECT_TRUE((*sandbox)->close(milliseconds(0)));
  });
}

// --- what a hostile init may say ---

using egress_protocol::EgressKind;

struct Relay {
  std::mutex mutex;
  std::condition_variable changed;
  std::string frames;
  std::vector<UniqueFd> taken;
  int refused = 0;
  std::atomic<bool> deaf = false;
  std::unique_ptr<EgressRelay> relay;

  Relay() {
    relay = EgressRelay::create([this](UniqueFd fd) { fd ? taken.push_back(std::move(fd)) : void(++refused); },
        [this](std::string_view said) -> Result<void> {
          if (deaf) return Error(ErrorCode::environment_unavailable, "deaf");
          const std::lock_guard lock(mutex);
          frames += said;
          changed.notify_all();
          return ok();
        }).value();
  }
  Result<void> push(std::uint32_t id, EgressKind kind, std::string_view bytes = {}) {
    return relay->push(id, static_cast<char>(kind) + std::string(bytes));
  }
  bool wait_for(const std::function<bool(const std::string&)>& condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return condition(frames); });
  }
};

std::string window(std::uint32_t bytes) {
  std::string number(init_protocol::kNumberBytes, '\0');
  init_protocol::write_number(number.data(), bytes);
  return number;
}

TEST(EgressRelay, RefusesWhatInitNeverSays) {
  const std::string too_much(egress_protocol::kEgressWindowBytes + 1, 'x');
  for (const auto& [kind, bytes] :
      std::vector<std::pair<EgressKind, std::string>>{{EgressKind::open, ""}, {EgressKind::open, "x"},
          {EgressKind::data, ""}, {EgressKind::data, too_much}, {EgressKind::end, "x"}, {EgressKind::reset, "x"},
          {EgressKind::window, "abc"}, {EgressKind::window, window(1)}, {static_cast<EgressKind>('?'), ""}}) {
    Relay relay;
    ASSERT_TRUE(relay.push(7, EgressKind::open));
    const auto refused = relay.push(7, kind, bytes);
    ASSERT_FALSE(refused) << static_cast<char>(kind);
    EXPECT_EQ(refused.error().code(), ErrorCode::protocol_error);
  }
  Relay relay;
  EXPECT_FALSE(relay.relay->push(7, {}));
  ASSERT_TRUE(relay.push(7, EgressKind::open));
  ASSERT_TRUE(relay.push(7, EgressKind::end));
  EXPECT_FALSE(relay.push(7, EgressKind::data, "behind the end"));
  EXPECT_FALSE(relay.push(7, EgressKind::end));
}

TEST(EgressRelay, IgnoresWhatIsSaidOfConnectionsThatAreOver) {
  Relay relay;
  for (const EgressKind kind : {EgressKind::data, EgressKind::end, EgressKind::reset})
    EXPECT_TRUE(relay.push(7, kind, kind == EgressKind::data ? "x" : ""));
  ASSERT_TRUE(relay.push(7, EgressKind::open));
  ASSERT_TRUE(relay.push(7, EgressKind::reset));
  EXPECT_TRUE(relay.push(7, EgressKind::data, "late"));
  char byte = 0;
  EXPECT_EQ(::recv(relay.taken.front().get(), &byte, 1, 0), 0);
}

// Of a connection that nobody reads no more is held than its window, and nobody else waits for it.
TEST(EgressRelay, GivesNoRoomForWhatNobodyHasTaken) {
  Relay relay;
  ASSERT_TRUE(relay.push(1, EgressKind::open));
  const std::string piece(egress_protocol::kEgressPieceBytes, 'x');
  // The socket between takes some, for which there is room again; then it is full.
  std::size_t sent = 0;
  for (bool open = true; open && sent < (64u << 20);) {
    ASSERT_TRUE(relay.push(1, EgressKind::data, piece));
    sent += piece.size();
    std::unique_lock lock(relay.mutex);
    relay.frames.clear();
    open = relay.changed.wait_for(lock, std::chrono::milliseconds(300), [&] { return !relay.frames.empty(); });
  }
  EXPECT_LT(sent, 8u << 20);
  ASSERT_TRUE(relay.push(2, EgressKind::open));
  send_all(relay.taken.back().get(), "hello");
  EXPECT_TRUE(relay.wait_for([](const std::string& frames) { return frames.find("dhello") != std::string::npos; }));
}

// Neither a reset nor its own end makes it forget what the program has sent before.
TEST(EgressRelay, HandsOutWhatIsHeldAtTheEnd) {
  for (const bool by_reset : {true, false}) {
    Relay relay;
    ASSERT_TRUE(relay.push(1, EgressKind::open));
    const std::string piece(egress_protocol::kEgressPieceBytes, 'x');
    std::size_t sent = 0;
    for (bool open = true; open; sent += piece.size()) {
      {
        const std::lock_guard lock(relay.mutex);
        relay.frames.clear();
      }
      ASSERT_TRUE(relay.push(1, EgressKind::data, piece));
      std::unique_lock lock(relay.mutex);
      open = relay.changed.wait_for(lock, std::chrono::milliseconds(300), [&] { return !relay.frames.empty(); });
    }
    if (by_reset) {
      ASSERT_TRUE(relay.push(1, EgressKind::reset));
      EXPECT_TRUE(relay.push(1, EgressKind::data, "late"));
    }
    std::thread end([&] {
      if (!by_reset) relay.relay->finish();
      if (!by_reset) relay.relay.reset();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it ends before anybody reads
    std::size_t got = 0;
    std::string bytes(piece.size(), ' ');
    for (ssize_t size = 0; (size = ::recv(relay.taken.front().get(), bytes.data(), bytes.size(), 0)) > 0;)
      got += static_cast<std::size_t>(size);
    EXPECT_EQ(got, sent);
    end.join();
  }
}

TEST(EgressRelay, RefusesMoreConnectionsThanInitHas) {
  Relay relay;
  std::uint32_t id = 0;
  while (id < 4 * egress_protocol::kEgressConnectionsMax && relay.frames.empty())
    ASSERT_TRUE(relay.push(id++, EgressKind::open));
  EXPECT_TRUE(relay.wait_for([](const std::string& frames) { return !frames.empty() && frames.back() == 'r'; }));
  EXPECT_LE(relay.taken.size(), 2 * egress_protocol::kEgressConnectionsMax);
  EXPECT_GE(relay.refused, 1) << "whoever keeps the account hears of it";
}

// A taker that ends its half and then goes: the program's end is not waited for, and its place is free.
TEST(EgressRelay, ForgetsAConnectionWhoseTakerHasGone) {
  Relay relay;
  ASSERT_TRUE(relay.push(7, EgressKind::open));
  ::shutdown(relay.taken.front().get(), SHUT_WR);
  ASSERT_TRUE(relay.wait_for([](const std::string& frames) { return !frames.empty() && frames.back() == 'e'; }));
  ASSERT_TRUE(relay.push(7, EgressKind::data, "the other half still works"));
  relay.taken.clear();
  ASSERT_TRUE(relay.wait_for([](const std::string& frames) { return frames.back() == 'r'; }));
  EXPECT_TRUE(relay.push(7, EgressKind::open)) << "there is none of that number any more";
}

TEST(EgressRelay, SaysThatInitDoesNotListen) {
  Relay relay;
  ASSERT_TRUE(relay.push(7, EgressKind::open));
  EXPECT_FALSE(relay.relay->failed());
  relay.deaf = true;
  send_all(relay.taken.front().get(), "never heard");
  for (int i = 0; i < 2000 && !relay.relay->failed(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(relay.relay->failed());
}

}  // namespace
}  // namespace guard
