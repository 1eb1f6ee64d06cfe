#include "serve/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <atomic>
#include <list>
#include <mutex>
#include <thread>

#include "serve/task_stream.h"
#include "tests/support/sessions/sessions_fixture.h"

namespace guard::serve {
namespace {

using ::testing::HasSubstr;

std::pair<std::string, std::string> seen(const std::string& method, const std::string& path) {
  const Purpose purpose = purpose_of({method, path, {}, {}});
  return {purpose.verb, purpose.session};
}

// A log is read by people and programs: what a client made up does not get into it.
TEST(Purpose, ShowsNothingThatAClientChose) {
  using Seen = std::pair<std::string, std::string>;
  EXPECT_EQ(seen("GET", "/metrics"), Seen("GET /metrics", ""));
  EXPECT_EQ(seen("GET", "/v1/sessions"), Seen("GET /v1/sessions", ""));
  EXPECT_EQ(seen("DELETE", "/v1/sessions/t/c"), Seen("DELETE", "t/c"));
  EXPECT_EQ(seen("POST", "/v1/sessions/t/c/exec"), Seen("POST exec", "t/c"));
  EXPECT_EQ(seen("GET", "/v1/sessions/t/c/commands"), Seen("GET commands", "t/c"));
  EXPECT_EQ(seen("GET", "/v1/sessions/t/c/commands/secret/log"), Seen("GET log", "t/c"));
  EXPECT_EQ(seen("GET", "/v1/sessions/t/c/commands/secret"), Seen("GET ?", "t/c"));
  EXPECT_EQ(seen("GET", "/v1/sessions/t/\x1b[2J/exec"), Seen("GET exec", ""));
  EXPECT_EQ(seen("SECRET", "/secret"), Seen("? ?", ""));
  EXPECT_EQ(seen("GET", "/v1/sessions/t/c/secret/exec"), Seen("GET ?", "t/c"));
}

// Who asks for a stream gets one end of a pair of sockets.
class StreamAnswer final : public Answer {
 public:
  Result<void> begin(unsigned status, std::string_view) override {
    status_ = status;
    return ok();
  }
  Result<void> write(std::string_view bytes) override {
    body += bytes;
    return ok();
  }
  Result<int> upgrade(std::string_view) override {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return Error::from_errno(ErrorCode::io_error, "socketpair", errno);
    ours_.reset(ends[0]);
    const std::lock_guard lock(mutex_);
    theirs_.reset(ends[1]);
    return ends[0];
  }
  UniqueFd take() {
    const std::lock_guard lock(mutex_);
    return std::move(theirs_);
  }
  std::atomic<unsigned> status_ = 0;
  std::string body;

 private:
  std::mutex mutex_;
  UniqueFd ours_;
  UniqueFd theirs_;
};

class Limits : public sessions::SessionsTest {
 protected:
  void SetUp() override { open(without_pool()); }
  void TearDown() override {
    for (Stream& stream : streams_) stream.thread.join();
  }

  struct Stream {
    StreamAnswer answer;
    std::thread thread;
    std::atomic<bool> over = false;
  };

  // No function: it was refused.
  StartTask stream(const std::string& session = "t/c") {
    Stream& made = streams_.emplace_back();
    made.thread = std::thread([this, &made, session] {
      static_cast<void>(
          api_->handle({"POST", "/v1/sessions/" + session + "/tasks", {{"open", "1"}}, "", "uid 1"}, made.answer));
      made.over = true;
    });
    UniqueFd end;
    EXPECT_TRUE(eventually([&] { return (end = made.answer.take()) || made.answer.status_ != 0; }));
    return end ? tasks_over(std::move(end)) : StartTask();
  }

  // Of a task that is refused; empty: it runs.
  static std::string refusal(const StartTask& start, std::vector<std::unique_ptr<Task>>& running) {
    auto task = start(sessions::program({"sleep"}));
    EXPECT_TRUE(task);
    const auto piece = (*task)->read(Deadline::after(milliseconds(100)));
    if (!piece) return running.push_back(std::move(*task)), std::string();
    return (*task)->end().error().message();
  }

  std::string asked(const std::string& method, const std::string& path) {
    StreamAnswer answer;
    static_cast<void>(api_->handle({method, path, {}, R"({"argv":["true"]})", "uid 1"}, answer));
    return std::to_string(answer.status_) + " " + answer.body;
  }

  void limited(const ClientLimits& limits) { api_ = std::make_unique<Api>(*manager_, std::string(), limits); }

  std::unique_ptr<Api> api_;
  std::list<Stream> streams_;
};

TEST_F(Limits, HoldForWhatIsStartedOnAStream) {
  limited({.held = {.tasks = 2, .streams = 2}});
  std::vector<std::unique_ptr<Task>> running;
  const StartTask start = stream();
  EXPECT_EQ(refusal(start, running), "");
  const StartTask other = stream();
  EXPECT_EQ(refusal(other, running), "") << "of all streams together";
  EXPECT_THAT(refusal(start, running), HasSubstr("uid 1 has 2 tasks on streams"));
  running.clear();
  EXPECT_TRUE(eventually([&] { return refusal(start, running).empty(); })) << "their places are free";
}

TEST_F(Limits, OfRequestsASecondAreThoseOfStartsToo) {
  limited({.requests_per_second = 0.001, .requests_at_once = 2});
  std::vector<std::unique_ptr<Task>> running;
  const StartTask start = stream();
  EXPECT_EQ(refusal(start, running), "");
  EXPECT_EQ(refusal(start, running), "");
  EXPECT_THAT(refusal(start, running), HasSubstr("things a second"));
}

TEST_F(Limits, LetAClientHaveSoManyStreams) {
  limited({.held = {.tasks = 9, .streams = 1}});
  {
    const StartTask first = stream();
    EXPECT_TRUE(first);
    EXPECT_FALSE(stream());
    EXPECT_EQ(streams_.back().answer.status_, 429u);
  }
  EXPECT_TRUE(eventually([this] { return streams_.front().over.load(); }));
  EXPECT_TRUE(stream());
}

TEST_F(Limits, LetNothingBeginOnAStreamOnceItStops) {
  limited({});
  std::vector<std::unique_ptr<Task>> running;
  const StartTask start = stream();
  EXPECT_EQ(refusal(start, running), "");
  const StartTask idle = stream();
  api_->clients().stop();
  EXPECT_THAT(refusal(start, running), HasSubstr("stopping"));
  EXPECT_TRUE(eventually([this] { return streams_.back().over.load(); })) << "nothing runs there";
  EXPECT_FALSE(streams_.front().over) << "what runs comes to its end";
  sandboxes_.stop_sleepers();
  EXPECT_TRUE(eventually([this] { return streams_.front().over.load(); }));
}

// However a session comes to be open again, it counts.
TEST_F(Limits, CountSessionsThatAreReopened) {
  limited({.sessions = 1});
  EXPECT_THAT(asked("POST", "/v1/sessions/t/a"), HasSubstr("200 "));
  EXPECT_THAT(asked("POST", "/v1/sessions/t/a/exec"), HasSubstr("exited"));
  EXPECT_THAT(asked("DELETE", "/v1/sessions/t/a"), HasSubstr("200 "));
  EXPECT_THAT(asked("POST", "/v1/sessions/t/b"), HasSubstr("200 "));
  EXPECT_THAT(asked("POST", "/v1/sessions/t/a/exec"), HasSubstr("429 "));
  EXPECT_THAT(asked("GET", "/v1/sessions/t/a/list"), HasSubstr("429 "));
  EXPECT_THAT(asked("GET", "/v1/sessions/t/a/commands"), HasSubstr("200 ")) << "that opens nothing";
  limited({.sessions = 1});
  EXPECT_THAT(asked("POST", "/v1/sessions/t/b/exec"), HasSubstr("exited")) << "it is open since before";
  EXPECT_THAT(asked("POST", "/v1/sessions/t/c"), HasSubstr("429 "));
}

}  // namespace
}  // namespace guard::serve
