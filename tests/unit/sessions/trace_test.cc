#include "sessions/trace/trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/sessions/sessions_fixture.h"

namespace guard::sessions {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kKey = "AKIA" + std::string("QYLPMN5HHHFPZAM2");

class TraceTest : public SessionsTest {
 protected:
  static constexpr std::size_t kOutputMax = 1'000;

  std::string file() const { return folder_.path() / "trace.jsonl"; }
  std::shared_ptr<Trace> trace() {
    return *Trace::open({*SecretSource::shipped(), kOutputMax, file(), "here", nullptr, nullptr, [](const auto& env) {
                           std::vector<KnownSecret> known;
                           for (const auto& [name, value] : env) known.push_back({name, value});
                           return SecretSource::shipped(std::move(known));
                         }});
  }
  void open_traced() { open_traced(trace()); }
  void open_traced(std::shared_ptr<Trace> shared) {
    Options options = without_pool();
    options.trace = std::move(shared);
    open(std::move(options));
    ASSERT_TRUE(manager_->open("t/a"));
  }
  std::vector<json> events() const {
    std::vector<json> events;
    std::istringstream lines(read_file(file(), 64u << 20).value_or(""));
    for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line, nullptr, false));
    return events;
  }
  // "1 COMMAND: OUTCOME", and below it the files.
  std::vector<std::string> told() const {
    std::vector<std::string> told;
    for (const json& event : events()) {
      told.push_back(event["event"] == "SKILL_EXECUTION_STEP"
              ? event["step"].dump() + " " + event.value("command", "") + ": " + event.value("outcome", "")
              : event.value("path", "") + " " + event["size_bytes"].dump());
    }
    return told;
  }
  fs::path workspace() const { return state_.path() / "workspaces" / sandbox_of("t/a"); }

  const TempDir folder_ = *TempDir::create();
};

// A program may ask for as many as it likes.
TEST_F(TraceTest, TellsSoManyConnectionsAndCountsTheRest) {
  const auto shared = trace();
  open_traced(shared);
  TaskSpec spec;
  spec.argv = {"true"};
  spec.env = {{"TOKEN", "hunter2hunter2xyz"}};
  ASSERT_TRUE(manager_->exec("t/a", spec, 1000, Deadline::after(milliseconds(10'000))));
  ConnectionLine line;
  line.host = "hunter2hunter2xyz.test\n";
  line.port = 443;
  line.bytes_up = 7;
  for (int i = 0; i < 1'500; ++i) shared->tell("t/a", line);
  shared->tell("t/b", line);
  ASSERT_TRUE(run("t/a", {"true"}));
  shared->tell("t/a", line);
  ASSERT_TRUE(run("t/a", {"true"}));
  const auto all = events();
  ASSERT_EQ(all.size(), 1'005u);
  EXPECT_EQ(all[1]["event"], "NETWORK_CONNECTION");
  EXPECT_EQ(all[1]["port"], 443);
  EXPECT_EQ(all[1]["bytes_up"], 7);
  EXPECT_THAT(all[1]["host"], AllOf(HasSubstr(".test"), Not(HasSubstr("hunter2")), Not(HasSubstr("\n"))));
  EXPECT_EQ(all[1'001]["session"], "t/b");
  EXPECT_EQ(all[1'002]["connections_left_out"], 500);
  EXPECT_EQ(all[1'003]["event"], "NETWORK_CONNECTION");
  EXPECT_FALSE(all[1'004].contains("connections_left_out"));
}

// Code must not hide where it was behind a flood of what was refused.
TEST_F(TraceTest, CountsAllowedAndRefusedConnectionsApart) {
  const auto shared = trace();
  open_traced(shared);
  ConnectionLine refused;
  refused.host = "refused.test";
  for (int i = 0; i < 1'200; ++i) shared->tell("t/a", refused);
  ConnectionLine allowed;
  allowed.host = "allowed.test";
  allowed.allowed = true;
  allowed.bytes_up = 7;
  allowed.bytes_down = 5;
  for (int i = 0; i < 1'100; ++i) shared->tell("t/a", allowed);
  ASSERT_TRUE(run("t/a", {"true"}));
  auto all = events();
  ASSERT_EQ(all.size(), 2'001u);
  EXPECT_EQ(all[1'000]["host"], "allowed.test");
  const json step = all.back();
  EXPECT_EQ(step["connections_left_out"], 300);
  EXPECT_EQ(step["allowed_left_out"], 100);
  EXPECT_EQ(step["bytes_up_left_out"], 700);
  EXPECT_EQ(step["bytes_down_left_out"], 500);
}

TEST_F(TraceTest, TellsWhatIsLeftOutAfterTheLastStep) {
  auto shared = trace();
  Options options = without_pool();
  options.trace = shared;
  open(std::move(options));
  ConnectionLine line;
  line.host = "allowed.test";
  line.allowed = true;
  line.bytes_up = 7;
  for (const char* id : {"t/a", "t/b", "t/c"}) {
    ASSERT_TRUE(manager_->open(id));
    for (int i = 0; i < (id == std::string("t/c") ? 1'000 : 1'010); ++i) shared->tell(id, line);
  }
  ASSERT_TRUE(manager_->close("t/a", Workspace::remove));
  auto all = events();
  ASSERT_EQ(all.size(), 3'001u);
  EXPECT_EQ(all.back()["event"], "NETWORK_CONNECTIONS_LEFT_OUT");
  EXPECT_EQ(all.back()["session"], "t/a");
  EXPECT_EQ(all.back()["connections_left_out"], 10);
  EXPECT_EQ(all.back()["allowed_left_out"], 10);
  EXPECT_EQ(all.back()["bytes_up_left_out"], 70);
  EXPECT_EQ(all.back()["bytes_down_left_out"], 0);
  manager_.reset();
  shared.reset();
  all = events();
  ASSERT_EQ(all.size(), 3'002u);
  EXPECT_EQ(all.back()["session"], "t/b");
  EXPECT_EQ(all.back()["connections_left_out"], 10);
}

TEST_F(TraceTest, WithholdsAllOfASessionWithTooManyVariables) {
  const auto shared = trace();
  open_traced(shared);
  TaskSpec spec;
  spec.argv = {"true"};
  for (const int count : {1, 201}) {
    for (int i = 0; i < count; ++i) spec.env[fmt::format("V{:03}", i)] = fmt::format("hunter2hunter2x{:03}", i);
    ASSERT_TRUE(manager_->exec("t/a", spec, 1000, Deadline::after(milliseconds(10'000))));
  }
  ConnectionLine line;
  line.host = "hunter2hunter2x200.test";
  shared->tell("t/a", line);
  ASSERT_TRUE(run("t/a", {"say", line.host}));
  const auto all = events();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0]["command"], "true");
  EXPECT_THAT(all[2]["host"], HasSubstr("[withheld"));
  EXPECT_THAT(all[3]["stdout"], HasSubstr("[withheld"));
}

// What was given to a session that has to make room is not known any more: those that have ended make room first.
TEST_F(TraceTest, WithholdsTheHostsOfASessionThatIsNotKnownAnyMore) {
  const auto shared = trace();
  for (const char* id : {"t/a", "t/b", "t/z"})
    shared->begin(id, "true", UniqueFd(), {{"TOKEN", "hunter2hunter2xyz"}})->finish({"exited 0", 0, {}});
  shared->end("t/z");
  ConnectionLine line;
  for (int i = 0; i < 9'999; ++i) shared->tell(fmt::format("t/x{:05}", i), line);
  line.host = "hunter2hunter2xyz.test";
  shared->tell("t/b", line);
  EXPECT_THAT(events().back()["host"], AllOf(HasSubstr(".test"), Not(HasSubstr("hunter2"))));
  for (const char* id : {"t/z", "t/a"}) {
    shared->tell(id, line);
    EXPECT_THAT(events().back()["host"], HasSubstr("[withheld")) << id;
  }
}

TEST_F(TraceTest, HidesWhatCommandsAreGiven) {
  open_traced();
  const std::string first = "hunter2hunter2xyz", second = "other-secret-9876";
  for (const std::string& value : {first, second}) {
    TaskSpec spec;
    spec.argv = {"write", "f-" + value, "of " + value};
    spec.env = {{"TOKEN", value}, {"HOME", "/workspace"}};
    EXPECT_TRUE(manager_->exec("t/a", spec, 1000, Deadline::after(milliseconds(10'000))));
  }
  EXPECT_TRUE(run("t/a", {"say", first + " " + second}));
  EXPECT_TRUE(run("t/a", {"say", "/workspace/a"}));
  const std::string text = *read_file(file(), 1u << 20);
  EXPECT_EQ(text.find(first), std::string::npos) << text;
  EXPECT_EQ(text.find(second), std::string::npos) << text;
  EXPECT_NE(text.find("say /workspace/a"), std::string::npos) << text;
}

TEST_F(TraceTest, TellsMostOfManyFilesAndHowManyItLeavesOut) {
  const auto trace = this->trace();
  const TempDir folder = *TempDir::create();
  const auto opened = [&] { return UniqueFd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); };
  const auto step = trace->begin("t/a", "make", opened());
  for (int i = 0; i < 1500; ++i) ASSERT_TRUE(write_file_atomically(folder.path() / std::to_string(i), "1"));
  step->finish({"exited 0", 0, {}});
  const auto told = events();
  ASSERT_EQ(told.size(), 1001U);
  EXPECT_EQ(told[0]["files_left_out"], 500);
}

TEST_F(TraceTest, SaysThatItHasNotSeenAll) {
  const auto trace = this->trace();
  const TempDir folder = *TempDir::create();
  const auto step =
      trace->begin("t/a", "make", UniqueFd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  fs::path deep = folder.path();
  for (int i = 0; i < 70; ++i) deep /= "d";
  ASSERT_TRUE(make_folders(deep));
  ASSERT_TRUE(write_file_atomically(deep / "payload", "1"));
  step->finish({"exited 0", 0, {}});
  EXPECT_EQ(events().front()["files"], "not all seen");
}

// Whoever opens a file with a lease waits for its holder, or goes on.
TEST_F(TraceTest, WaitsForNoLease) {
  const TempDir folder = *TempDir::create();
  const fs::path held = folder.path() / "held";
  ASSERT_TRUE(write_file_atomically(held, "1"));
  const UniqueFd fd(::open(held.c_str(), O_RDWR | O_CLOEXEC));
  if (::fcntl(fd.get(), F_SETLEASE, F_WRLCK) != 0) GTEST_SKIP() << "no lease can be had here";
  ::signal(SIGIO, SIG_IGN);
  const UniqueFd top(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_FALSE(open_workspace_file(top.get(), "held"));
}

TEST_F(TraceTest, TellsEachCommandAndTheFilesThatCameOfIt) {
  open_traced();
  EXPECT_TRUE(run("t/a", {"write", "a.txt", "123"}));
  EXPECT_TRUE(run("t/a", {"exit", "4"}));
  EXPECT_TRUE(run("t/a", {"write", "a.txt", "12"}));
  EXPECT_THAT(told(),
      ElementsAre("1 write a.txt 123: exited 0", "/workspace/a.txt 3", "2 exit 4: exited 4",
          "3 write a.txt 12: exited 0", "/workspace/a.txt 2"));
  const json step = events()[2];
  EXPECT_EQ(step["event"], "SKILL_EXECUTION_STEP");
  EXPECT_EQ(step["session"], "t/a");
  EXPECT_EQ(step["exit_code"], 4);
  EXPECT_EQ(step["stdout"], "");
  EXPECT_TRUE(step["elapsed_ms"].is_number());
  EXPECT_EQ(events()[1]["filename"], "a.txt");
}

TEST_F(TraceTest, MasksAndCutsWhatIsSaid) {
  open_traced();
  EXPECT_EQ(said("t/a", {"say", "key " + kKey + " \xff."}), "key " + kKey + " \xff.");
  EXPECT_TRUE(run("t/a", {"flood", "5000"}));
  EXPECT_TRUE(run("t/a", {"write", kKey, "x"}));
  EXPECT_THAT(read_file(file(), 1u << 20).value_or(""), Not(HasSubstr(kKey)));
  const auto said = events();
  EXPECT_THAT(said[0]["stdout"].get<std::string>(), HasSubstr("key [REDACTED:"));
  EXPECT_THAT(said[0]["stdout"].get<std::string>(), HasSubstr("\xef\xbf\xbd."));
  EXPECT_EQ(said[0]["dropped_bytes"], 0);
  EXPECT_EQ(said[1]["stdout"].get<std::string>().size(), kOutputMax);
  EXPECT_EQ(said[1]["dropped_bytes"], 4'000);
}

TEST_F(TraceTest, TellsAFileOfTwoCommandsOnce) {
  open_traced();
  const auto sleeper = manager_->start("t/a", program({"sleep"}));
  ASSERT_TRUE(sleeper);
  EXPECT_TRUE(run("t/a", {"write", "a", "1"}));
  sandboxes_.stop_sleepers();
  ASSERT_TRUE(collect(**sleeper, 100, Deadline::after(milliseconds(5'000))));
  EXPECT_THAT(told(), ElementsAre("1 write a 1: exited 0", "/workspace/a 1", "2 sleep: exited 0"));
}

TEST_F(TraceTest, DoesNotTellWhatAClientPutThere) {
  open_traced();
  const Deadline soon = Deadline::after(milliseconds(5'000));
  EXPECT_TRUE(manager_->upload("t/a", "in.txt", "1", soon));
  EXPECT_TRUE(run("t/a", {"true"}));
  EXPECT_TRUE(manager_->move("t/a", "in.txt", "other.txt", soon));
  EXPECT_TRUE(run("t/a", {"true"}));
  EXPECT_THAT(told(), ElementsAre("1 true: exited 0", "2 true: exited 0"));
}

TEST_F(TraceTest, TellsABackgroundCommandAtItsEnd) {
  open_traced();
  const auto id = manager_->start_background("t/a", program({"sleep"}));
  ASSERT_TRUE(id);
  EXPECT_TRUE(run("t/a", {"true"}));
  EXPECT_THAT(told(), ElementsAre("1 true: exited 0"));
  EXPECT_TRUE(manager_->signal("t/a", *id, 9));
  EXPECT_TRUE(eventually([&] { return told().size() == 2; }));
  EXPECT_EQ(told().back(), "2 sleep: signaled 9");
  EXPECT_EQ(events().back()["exit_code"], nullptr);
}

TEST_F(TraceTest, TellsWhatWasGivenUpOrLostItsSandbox) {
  open_traced();
  manager_->start("t/a", program({"sleep"}))->reset();
  const auto task = manager_->start("t/a", program({"sleep"}));
  sandboxes_.kill(sandbox_of("t/a"));
  EXPECT_FALSE(collect(**task, 100, Deadline::after(milliseconds(5'000))));
  const_cast<std::unique_ptr<Task>&>(*task).reset();
  EXPECT_THAT(told(), ElementsAre("1 sleep: abandoned", "2 sleep: ENVIRONMENT_UNAVAILABLE"));
}

TEST_F(TraceTest, TakesNoStepForOneThatWasNot) {
  open_traced();
  EXPECT_FALSE(run("t/a", {"read", "none"})) << "it could not be started";
  TaskSpec spec = program({"true"});
  spec.title = "";
  EXPECT_TRUE(manager_->exec("t/a", spec, 100, Deadline::after(milliseconds(5'000))));
  EXPECT_THAT(told(), IsEmpty());
  spec.title = "print(1)";
  EXPECT_TRUE(manager_->exec("t/a", spec, 100, Deadline::after(milliseconds(5'000))));
  EXPECT_THAT(told(), ElementsAre("1 print(1): exited 0"));
}

// What a program inside can do to those who look at its files.
TEST_F(TraceTest, IsNotLedAstrayByAWorkspace) {
  open_traced();
  EXPECT_TRUE(run("t/a", {"write", "old", "1"}));
  const fs::path outside = folder_.path() / "outside";
  fs::create_directories(outside);
  ASSERT_TRUE(write_file_atomically(outside / "secret", "1"));
  const auto task = manager_->start("t/a", program({"sleep"}));
  ASSERT_TRUE(task);
  const fs::path inside = workspace();
  fs::create_symlink(outside, inside / "folder");
  fs::create_symlink(outside / "secret", inside / "link");
  ASSERT_EQ(::mkfifo((inside / "pipe").c_str(), 0666), 0);
  fs::create_hard_link(inside / "old", inside / "again");
  struct timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_TRUE(write_file_atomically(inside / "old-looking", "1"));
  ASSERT_EQ(::utimensat(AT_FDCWD, (inside / "old-looking").c_str(), times, 0), 0);
  ASSERT_TRUE(write_file_atomically(inside / "new\nline", "12"));
  fs::create_directories(inside / "deep/er");
  ASSERT_TRUE(write_file_atomically(inside / "deep/er/f", "123"));
  sandboxes_.stop_sleepers();
  ASSERT_TRUE(collect(**task, 100, Deadline::after(milliseconds(5'000))));
  EXPECT_THAT(told(),
      ElementsAre("1 write old 1: exited 0", "/workspace/old 1", "2 sleep: exited 0", "/workspace/again 1",
          "/workspace/deep/er/f 3", "/workspace/new\\nline 2", "/workspace/old 1", "/workspace/old-looking 1"));

  const UniqueFd folder(::open(inside.c_str(), O_RDONLY | O_DIRECTORY));
  EXPECT_TRUE(open_workspace_file(folder.get(), "deep/er/f"));
  for (const char* path : {"pipe", "link", "folder/secret", "none", "deep", "../x", "deep/er/f/g", "", "deep/"})
    EXPECT_FALSE(open_workspace_file(folder.get(), path)) << path;
}

TEST(CommandText, IsWhatAPersonWouldType) {
  EXPECT_EQ(command_text({"/bin/sh", "-c", "echo a | cat"}), "echo a | cat");
  EXPECT_EQ(command_text({"/bin/bash", "-l", "-c", "ls"}), "ls");
  EXPECT_EQ(command_text({"bun", "exec", "ls -l"}), "ls -l");
  EXPECT_EQ(command_text({"bun", "-e", "a b", ""}), "bun -e 'a b' ''");
}

}  // namespace
}  // namespace guard::sessions
