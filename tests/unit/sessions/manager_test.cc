#include "sessions/manager.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "sessions/ledger.h"
#include "tests/support/sessions/sessions_fixture.h"

namespace guard::sessions {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using ManagerTest = SessionsTest;

TEST_F(ManagerTest, KeepsAWorkspaceFromOneCallToTheNext) {
  open();
  ASSERT_TRUE(manager_->open("t/a"));
  EXPECT_TRUE(run("t/a", {"write", "notes.txt", "kept"}).has_value());
  EXPECT_EQ(said("t/a", {"read", "notes.txt"}), "kept");
  const Stats stats = manager_->stats();
  EXPECT_EQ(stats.starts.at(Way::reused).count, 1u);
  EXPECT_EQ(stats.commands.at("exited"), 2u);
  EXPECT_EQ(stats.sessions.at(SessionState::idle), 1u);
}

TEST_F(ManagerTest, StartsASandboxOnlyWhenAnOperationNeedsIt) {
  open(without_pool());
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(manager_->open("t/a")) << "it stays open";
  EXPECT_EQ(sandboxes_.started(), 0u);
  EXPECT_TRUE(run("t/a", {"true"}).has_value());
  EXPECT_TRUE(run("t/a", {"true"}).has_value());
  EXPECT_EQ(sandboxes_.started(), 1u);
  EXPECT_EQ(manager_->stats().starts.at(Way::cold).count, 1u);
}

TEST_F(ManagerTest, SaysWhoseASandboxIsBeforeAnythingRunsThere) {
  Options options = without_pool();
  std::vector<std::string> claims;
  options.on_claim = [&](const std::string& sandbox, const std::string& session) {
    EXPECT_TRUE(sandboxes_.callers()[sandbox].empty());
    claims.push_back(session + " " + sandbox);
  };
  open(std::move(options));
  ASSERT_TRUE(manager_->open("t/a"));
  EXPECT_TRUE(claims.empty());
  EXPECT_TRUE(run("t/a", {"true"}));
  EXPECT_TRUE(run("t/a", {"true"}));
  const std::string first = sandbox_of("t/a");
  EXPECT_EQ(claims, std::vector<std::string>{"t/a " + first});
  sandboxes_.kill(first);
  EXPECT_EQ(eventually_run("t/a", {"say", "x"}), "x");
  EXPECT_EQ(claims, (std::vector<std::string>{"t/a " + first, "t/a " + sandbox_of("t/a")}));
}

TEST_F(ManagerTest, RefusesHostileIds) {
  open(without_pool());
  const std::string longest(64, 'x');
  EXPECT_TRUE(manager_->open(longest + "/" + longest));
  EXPECT_TRUE(manager_->open("A-b_c.9/0"));
  for (const std::string& id :
      std::vector<std::string>{"", "/", "a", "a/", "/a", "a/b/c", "../a", "a/..", "./a", "a/.b", "a//b", "a/b/", " a/b",
          "a/b ", "a/b\n", std::string("a/b\0", 4), std::string("a/\0b", 4), "a\\b", "a/b;c", "a/$(x)", "a/\xc3\xa4",
          "a/\x1b[2J", longest + "x/a", "a/" + longest + "x", std::string(100'000, 'a')}) {
    const auto opened = manager_->open(id);
    ASSERT_FALSE(opened) << id;
    EXPECT_EQ(opened.error().code(), ErrorCode::input_invalid);
    EXPECT_LT(opened.error().message().size(), 700u);
    EXPECT_FALSE(manager_->start(id, program({"true"})));
    EXPECT_FALSE(manager_->close(id, Workspace::remove));
  }
  EXPECT_EQ(manager_->sessions().size(), 2u);
  EXPECT_EQ(run("t/unknown", {"true"}).error().code(), ErrorCode::file_not_found);
}

TEST_F(ManagerTest, FillsItsPoolAndTakesFromIt) {
  open();
  wait_for_pool(5);
  ASSERT_TRUE(manager_->open("t/a"));
  EXPECT_TRUE(run("t/a", {"true"}).has_value());
  EXPECT_EQ(manager_->stats().starts.at(Way::pool).count, 1u);
  wait_for_pool(5);  // the refill began with the claim, without a tick
  EXPECT_EQ(sandboxes_.started(), 6u);
  EXPECT_LE(sandboxes_.starting_max(), 2u);
}

TEST_F(ManagerTest, IsRunningUntilTheTaskEndsOrIsGivenUp) {
  open();
  ASSERT_TRUE(manager_->open("t/a"));
  auto task = manager_->start("t/a", program({"sleep"}));
  ASSERT_TRUE(task);
  EXPECT_EQ(state("t/a"), SessionState::running);
  sandboxes_.stop_sleepers();
  EXPECT_EQ(state("t/a"), SessionState::idle) << "although nobody read";
  auto other = manager_->start("t/a", program({"sleep"}));
  ASSERT_TRUE(other);
  EXPECT_EQ(state("t/a"), SessionState::running);
  other->reset();
  EXPECT_EQ(state("t/a"), SessionState::idle);
  EXPECT_EQ(manager_->stats().commands.at("abandoned"), 1u);
}

TEST_F(ManagerTest, WaitsForOneStartPerSessionAndForNoneOfOthers) {
  Options options = without_pool();
  open(options);
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(manager_->open("t/b"));
  ASSERT_TRUE(run("t/b", {"true"}).has_value());
  sandboxes_.hang_starts(true);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_TRUE(run("t/a", {"true"}).has_value()); });
  EXPECT_TRUE(run("t/b", {"true"}).has_value()) << "while the other's start hangs";
  EXPECT_TRUE(manager_->open("t/c"));
  sandboxes_.hang_starts(false);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sandboxes_.started(), 2u);
}

TEST_F(ManagerTest, TimesOutOnWaitingForAStartThatHangs) {
  Options options = without_pool();
  options.wait_max = milliseconds(50);
  open(options);
  ASSERT_TRUE(manager_->open("t/a"));
  sandboxes_.hang_starts(true);
  std::thread first([&] { EXPECT_TRUE(run("t/a", {"true"}).has_value()); });
  const auto is_starting = [&] { return manager_->stats().starting == 1; };
  ASSERT_TRUE(eventually(is_starting));
  EXPECT_EQ(run("t/a", {"true"}).error().code(), ErrorCode::execution_timeout);
  sandboxes_.hang_starts(false);
  first.join();
}

TEST_F(ManagerTest, FailsACallWhoseStartFailsAndTriesAgainWithTheNext) {
  open(without_pool());
  ASSERT_TRUE(manager_->open("t/a"));
  sandboxes_.fail_starts(2);
  EXPECT_EQ(run("t/a", {"true"}).error().code(), ErrorCode::environment_creation_failed);
  EXPECT_EQ(run("t/a", {"true"}).error().code(), ErrorCode::environment_creation_failed);
  EXPECT_TRUE(run("t/a", {"true"}).has_value());
  EXPECT_EQ(folders().size(), 1u) << "what failed left no folder";
}

TEST_F(ManagerTest, RefillsAgainAfterFailures) {
  sandboxes_.fail_starts(3);
  open();
  for (int i = 0; i < 10; ++i) {
    clock_.advance(milliseconds(1'000));
    manager_->tick();
    std::this_thread::sleep_for(milliseconds(5));
  }
  wait_for_pool(5);
  EXPECT_FALSE(manager_->notes().empty());
}

TEST_F(ManagerTest, ReopensASessionWhoseSandboxDied) {
  open();
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(manager_->open("t/b"));
  ASSERT_TRUE(run("t/a", {"write", "f", "a"}).has_value());
  ASSERT_TRUE(run("t/b", {"write", "f", "b"}).has_value());
  auto task = manager_->start("t/a", program({"sleep"}));
  ASSERT_TRUE(task);
  sandboxes_.kill(sandbox_of("t/a"));
  EXPECT_EQ(state("t/a"), SessionState::error);
  EXPECT_EQ((*task)->read(Deadline::after(milliseconds(1'000))).error().code(), ErrorCode::environment_unavailable);
  manager_->tick();
  EXPECT_EQ(state("t/a"), SessionState::error);
  EXPECT_THAT(info("t/a").fault, HasSubstr("init was killed"));
  EXPECT_EQ(state("t/b"), SessionState::idle);
  EXPECT_EQ(said("t/a", {"read", "f"}), "a");
  EXPECT_EQ(state("t/a"), SessionState::idle);
  EXPECT_EQ(said("t/b", {"read", "f"}), "b");
}

TEST_F(ManagerTest, ReopensWithoutATickInBetweenToo) {
  open();
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(run("t/a", {"write", "f", "a"}).has_value());
  for (int i = 0; i < 5; ++i) {
    sandboxes_.kill(sandbox_of("t/a"));
    EXPECT_EQ(said("t/a", {"read", "f"}), "a");
  }
  EXPECT_EQ(used_folders().size(), 1u);
}

TEST_F(ManagerTest, TerminatesWhatStaysInError) {
  open();
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(run("t/a", {"write", "f", "a"}).has_value());
  sandboxes_.kill(sandbox_of("t/a"));
  manager_->tick();
  EXPECT_EQ(state("t/a"), SessionState::error);
  clock_.advance(milliseconds(60'000));
  manager_->tick();
  EXPECT_EQ(state("t/a"), SessionState::terminated);
  EXPECT_EQ(said("t/a", {"read", "f"}), "a");
}

TEST_F(ManagerTest, ReplacesWhatIsUnhealthy) {
  Options options;
  options.check_deadline = milliseconds(100);
  open(options);
  wait_for_pool(5);
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(run("t/a", {"write", "f", "a"}).has_value());
  wait_for_pool(5);
  const std::string mine = sandbox_of("t/a");
  for (const std::string& id : sandboxes_.alive()) sandboxes_.sicken(id);
  manager_->tick();
  EXPECT_EQ(state("t/a"), SessionState::idle) << "not due yet";
  clock_.advance(milliseconds(60'000));
  const auto begun = SteadyClock::now();
  manager_->tick();
  EXPECT_LT(SteadyClock::now() - begun, milliseconds(2'000)) << "checks wait side by side";
  EXPECT_EQ(state("t/a"), SessionState::error);
  wait_for_pool(5);
  EXPECT_EQ(said("t/a", {"read", "f"}), "a");
  EXPECT_NE(sandbox_of("t/a"), mine);
}

TEST_F(ManagerTest, KeepsOrRemovesTheWorkspaceOnClose) {
  open();
  for (const std::string id : {"t/a", "t/b"}) {
    ASSERT_TRUE(manager_->open(id));
    ASSERT_TRUE(run(id, {"write", "f", id}).has_value());
  }
  ASSERT_TRUE(manager_->close("t/a", Workspace::keep));
  ASSERT_TRUE(manager_->close("t/b", Workspace::remove));
  EXPECT_EQ(state("t/a"), SessionState::terminated);
  EXPECT_EQ(manager_->sessions().size(), 1u);
  EXPECT_EQ(run("t/b", {"true"}).error().code(), ErrorCode::file_not_found);
  EXPECT_EQ(said("t/a", {"read", "f"}), "t/a");
  ASSERT_TRUE(manager_->open("t/b"));
  EXPECT_EQ(run("t/b", {"read", "f"}).error().code(), ErrorCode::file_not_found);
}

TEST_F(ManagerTest, ForgetsAClosedSessionThatNeverHadAWorkspace) {
  open(without_pool());
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(manager_->close("t/a", Workspace::keep));
  EXPECT_TRUE(manager_->sessions().empty());
}

TEST_F(ManagerTest, GoesOnWhereAClosedSandboxLeftSomething) {
  open(without_pool());
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(run("t/a", {"write", "f", "a"}).has_value());
  sandboxes_.fail_closes(true);
  EXPECT_TRUE(manager_->close("t/a", Workspace::keep));
  EXPECT_EQ(manager_->notes().size(), 1u);
  EXPECT_EQ(said("t/a", {"read", "f"}), "a");
}

// Where it is known how to remove what is left, nothing of the session is used before that has succeeded.
TEST_F(ManagerTest, WaitsUntilWhatIsLeftOfASandboxIsGone) {
  std::atomic<bool> stuck{true};
  Options options = without_pool();
  options.remove_leftover = [&](const std::string&) -> Result<void> {
    return stuck ? Result<void>(Error(ErrorCode::io_error, "stuck")) : ok();
  };
  open(options);
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(run("t/a", {"write", "f", "a"}).has_value());
  sandboxes_.fail_closes(true);
  EXPECT_FALSE(manager_->close("t/a", Workspace::remove));
  EXPECT_EQ(folders().size(), 1u);
  manager_->tick();
  EXPECT_EQ(folders().size(), 1u);
  EXPECT_FALSE(run("t/a", {"true"}).has_value());
  stuck = false;
  manager_->tick();
  EXPECT_EQ(folders().size(), 0u);
  EXPECT_TRUE(manager_->sessions().empty());
}

TEST_F(ManagerTest, HandsOutNoSandboxWhoseWorkspaceIsNotEmpty) {
  open(without_pool());
  ASSERT_TRUE(manager_->open("t/a"));
  sandboxes_.spoil_workspaces(true);
  EXPECT_EQ(run("t/a", {"true"}).error().code(), ErrorCode::environment_unavailable);
  EXPECT_TRUE(sandboxes_.alive().empty());
  EXPECT_TRUE(folders().empty());
  sandboxes_.spoil_workspaces(false);
  EXPECT_TRUE(run("t/a", {"true"}).has_value());
}

TEST_F(ManagerTest, LimitsTheSessionsOfATenantAndOfAll) {
  Options options = without_pool();
  options.sessions_max = 3;
  options.sessions_per_tenant_max = 2;
  open(options);
  EXPECT_TRUE(manager_->open("t/a"));
  EXPECT_TRUE(manager_->open("t/b"));
  const auto third = manager_->open("t/c");
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().message(), HasSubstr("tenant t has 2"));
  EXPECT_TRUE(manager_->open("t/a")) << "it is open already";
  EXPECT_TRUE(manager_->open("u/a"));
  EXPECT_FALSE(manager_->open("v/a"));
  ASSERT_TRUE(run("t/a", {"true"}).has_value());
  ASSERT_TRUE(manager_->close("t/a", Workspace::keep));
  EXPECT_TRUE(manager_->open("t/c"));
  EXPECT_FALSE(run("t/a", {"true"}).has_value()) << "reopening counts";
}

TEST_F(ManagerTest, MovesFilesByTasks) {
  open();
  ASSERT_TRUE(manager_->open("t/a"));
  const Deadline soon = Deadline::after(milliseconds(10'000));
  EXPECT_EQ(manager_->upload("t/a", "in/data.bin", std::string("a\0b", 3), soon).value(), "/workspace/in/data.bin");
  std::string got;
  const auto take = [&got](std::string_view bytes) {
    got += bytes;
    return ok();
  };
  ASSERT_TRUE(manager_->download("t/a", "/workspace/in/data.bin", take, soon));
  EXPECT_EQ(got, std::string("a\0b", 3));
  const auto enough = [](std::string_view) { return Result<void>(Error(ErrorCode::io_error, "gone")); };
  EXPECT_EQ(manager_->download("t/a", "in/data.bin", enough, soon).error().code(), ErrorCode::io_error);
  EXPECT_EQ(manager_->download("t/a", "none", take, soon).error().code(), ErrorCode::file_not_found);
  EXPECT_TRUE(manager_->make_folder("t/a", "out", soon));
  EXPECT_TRUE(manager_->move("t/a", "in/data.bin", "moved", soon));
  const auto entry = manager_->stat("t/a", "moved", soon);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->size, 3u);
  EXPECT_TRUE(manager_->remove("t/a", "in", soon));
  EXPECT_EQ(manager_->list("t/a", ".", 1, soon)->size(), 2u);
  EXPECT_EQ(manager_->upload("t/a", "", "x", soon).error().code(), ErrorCode::input_invalid);
  EXPECT_EQ(manager_->upload("t/a", std::string("a\0b", 3), "x", soon).error().code(), ErrorCode::input_invalid);
  EXPECT_EQ(state("t/a"), SessionState::idle);
}

TEST_F(ManagerTest, RunsCommandsInTheBackgroundAndKeepsTheirLogs) {
  Options options;
  options.log_bytes_max = 10;
  options.background_max = 1;
  options.commands_kept = 3;
  open(options);
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(manager_->open("t/b"));
  const auto said = manager_->start_background("t/a", program({"say", "hello"}));
  ASSERT_TRUE(said);
  ASSERT_TRUE(eventually([&] { return manager_->read_log("t/a", *said, 0, 100)->ended; }));
  const auto log = manager_->read_log("t/a", *said, 1, 100);
  EXPECT_EQ(log->bytes, "ello");
  EXPECT_EQ(log->next, 5u);
  clock_.advance(milliseconds(1'000));
  const auto flood = manager_->start_background("t/a", program({"flood", "1000"}));
  ASSERT_TRUE(flood);
  ASSERT_TRUE(eventually([&] { return manager_->read_log("t/a", *flood, 0, 100)->ended; }));
  EXPECT_EQ(manager_->read_log("t/a", *flood, 0, 100)->bytes, std::string(10, 'x'));
  clock_.advance(milliseconds(1'000));
  const auto sleeper = manager_->start_background("t/a", program({"sleep"}));
  ASSERT_TRUE(sleeper);
  EXPECT_EQ(state("t/a"), SessionState::running);
  EXPECT_FALSE(manager_->start_background("t/a", program({"sleep"}))) << "one at a time here";
  auto commands = *manager_->commands("t/a");
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_TRUE(manager_->commands("t/b")->empty());
  EXPECT_EQ(manager_->read_log("t/b", *said, 0, 100).error().code(), ErrorCode::file_not_found) << "another session's";
  EXPECT_FALSE(manager_->signal("t/b", *sleeper, 15));
  EXPECT_FALSE(manager_->read_log("t/a", "../owner", 0, 100));
  clock_.advance(milliseconds(1'000));
  ASSERT_TRUE(manager_->signal("t/a", *sleeper, 15));
  ASSERT_TRUE(eventually([&] { return state("t/a") == SessionState::idle; }));
  ASSERT_TRUE(eventually([&] { return manager_->start_background("t/a", program({"exit", "3"})).has_value(); }));
  commands = *manager_->commands("t/a");
  ASSERT_EQ(commands.size(), 3u) << "the oldest went";
  std::map<std::string, std::string> outcomes;
  ASSERT_TRUE(eventually([&] {
    const auto rows = *manager_->commands("t/a");
    for (const CommandRow& row : rows) outcomes[row.argv.substr(0, 4)] = row.outcome;
    return outcomes["exit"] == "exited 3";
  }));
  EXPECT_EQ(outcomes["slee"], "signaled 15");
  EXPECT_EQ(outcomes["floo"], "exited 0");
  ASSERT_TRUE(manager_->close("t/a", Workspace::remove));
  EXPECT_TRUE(fs::is_empty(state_.path() / "logs"));
}

TEST_F(ManagerTest, EndsASessionWithALiveBackgroundCommand) {
  open();
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(manager_->start_background("t/a", program({"linger"})));
  ASSERT_TRUE(manager_->close("t/a", Workspace::remove));
  EXPECT_TRUE(manager_->sessions().empty());
  manager_.reset();
  const auto ledger = Ledger::open(state_.path());
  ASSERT_TRUE(ledger);
  EXPECT_TRUE((*ledger)->commands("")->empty()) << "it wrote its end after all was removed";
}

TEST_F(ManagerTest, AClockThatJumpsRemovesNothing) {
  open(without_pool());
  ASSERT_TRUE(manager_->open("t/a"));
  EXPECT_EQ(said("t/a", {"write", "f", "kept"}), "");
  ASSERT_TRUE(manager_->close("t/a", Workspace::keep));
  const milliseconds jump = std::chrono::hours(24 * 40);
  clock_.advance(jump);
  manager_->tick();
  ASSERT_EQ(state("t/a"), SessionState::terminated);
  EXPECT_GT(info("t/a").row.expires_ms, clock_.now_ms()) << "so much is said";
  clock_.advance(-jump);
  manager_->tick();
  EXPECT_EQ(info("t/a").row.expires_ms, 0);
  EXPECT_EQ(said("t/a", {"read", "f"}), "kept");
  ASSERT_TRUE(manager_->close("t/a", Workspace::keep));
  clock_.advance(jump);
  manager_->tick();
  clock_.advance(std::chrono::hours(24));
  manager_->tick();
  EXPECT_TRUE(manager_->sessions().empty());
}

// Killed then, guard must not find its session to have been idle for all that time.
TEST_F(ManagerTest, ASessionIsUsedForAsLongAsSomethingRuns) {
  open(without_pool());
  ASSERT_TRUE(manager_->open("t/a"));
  const auto task = manager_->start("t/a", program({"sleep"}));
  ASSERT_TRUE(task);
  clock_.advance(std::chrono::hours(24 * 40));
  manager_->tick();
  const auto ledger = Ledger::open(state_.path());
  ASSERT_TRUE(ledger);
  const auto rows = *(*ledger)->sessions();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].used_ms, clock_.now_ms());
  sandboxes_.stop_sleepers();
}

TEST_F(ManagerTest, SweepsOver72Hours) {
  open();
  wait_for_pool(5);
  for (const std::string id : {"t/idle", "t/old", "t/busy", "t/leased"}) {
    ASSERT_TRUE(manager_->open(id));
    ASSERT_TRUE(run(id, {"write", "f", id}).has_value());
  }
  auto busy = manager_->start("t/busy", program({"sleep"}));
  ASSERT_TRUE(busy);
  ASSERT_TRUE(manager_->renew("t/leased", std::chrono::hours(2)));
  std::map<std::string, std::int64_t> ended;
  Report sum;

  for (int minute = 0; minute < 72 * 60; ++minute) {
    clock_.advance(milliseconds(60'000));
    const bool old_is_open = ended.count("t/old") == 0;
    if (minute % 30 == 0 && old_is_open && state("t/old") != SessionState::terminated) {
      ASSERT_TRUE(run("t/old", {"true"}).has_value());
    }
    manager_->tick();
    for (const SessionInfo& session : manager_->sessions()) {
      if (session.state == SessionState::terminated) ended.emplace(session.row.id, minute + 1);
    }
    const Report report = manager_->stats().last_sweep;
    sum.cleaned = std::max(sum.cleaned, report.cleaned);
    sum.expired += (minute + 1) % 60 == 0 ? report.expired : 0;
  }
  EXPECT_EQ(ended.count("t/busy"), 0u);
  EXPECT_NEAR(static_cast<double>(ended["t/leased"]), 120, 2);
  EXPECT_GE(ended["t/idle"], 24 * 60 + 5);
  EXPECT_LE(ended["t/idle"], 25 * 60 + 37);
  EXPECT_GE(ended["t/old"], 48 * 60 + 5);
  EXPECT_LE(ended["t/old"], 49 * 60 + 37);
  EXPECT_EQ(sum.expired, 2u);
  EXPECT_EQ(sum.cleaned, 1u);
  EXPECT_EQ(said("t/idle", {"read", "f"}), "t/idle") << "its workspace stayed";
}

// However often guard is started anew.
TEST_F(ManagerTest, SweepsWithItsFirstTick) {
  open(without_pool());
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(run("t/a", {"true"}).has_value());
  manager_.reset();
  clock_.advance(std::chrono::hours(25));
  open(without_pool());
  manager_->tick();
  EXPECT_EQ(manager_->stats().last_sweep.expired, 1u);
  manager_.reset();
  clock_.advance(std::chrono::minutes(5));
  open(without_pool());
  manager_->tick();
  EXPECT_EQ(state("t/a"), SessionState::terminated);
  EXPECT_EQ(manager_->stats().last_sweep.cleaned, 1u);
}

TEST_F(ManagerTest, HasOneOwner) {
  open(without_pool());
  const auto second = Manager::open(state_.path(), sandboxes_.factory(), clock_, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::input_invalid);
  EXPECT_THAT(second.error().message(), HasSubstr(fmt::format("process {}", ::getpid())));
  manager_.reset();
  open(without_pool());
}

TEST_F(ManagerTest, ClosesAllSandboxesAndKeepsTheWorkspacesWhenItStops) {
  open();
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(run("t/a", {"write", "f", "a"}).has_value());
  ASSERT_TRUE(manager_->start_background("t/a", program({"sleep"})));
  wait_for_pool(5);
  manager_->stop(milliseconds(0));
  EXPECT_TRUE(sandboxes_.alive().empty());
  EXPECT_EQ(folders().size(), 1u);
  EXPECT_EQ(run("t/a", {"true"}).error().code(), ErrorCode::environment_unavailable);
  manager_.reset();
  open();
  EXPECT_TRUE(manager_->notes().empty());
  EXPECT_EQ(said("t/a", {"read", "f"}), "a");
}

// Sixteen threads, eight sessions of four tenants, sandboxes that die: nothing is ever seen by two sessions.
TEST_F(ManagerTest, NeverSharesAnythingBetweenSessions) {
  open();
  std::vector<std::string> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(fmt::format("t{}/c{}", i % 4, i));
  for (const auto& id : ids) ASSERT_TRUE(manager_->open(id));
  CancelToken cancel;
  std::thread ticker([&] {
    while (!cancel.cancelled()) {
      manager_->tick();
      clock_.advance(milliseconds(5'000));
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  std::thread killer([&] {
    for (int i = 0; !cancel.cancelled(); ++i) {
      const auto alive = sandboxes_.alive();
      if (!alive.empty()) sandboxes_.kill(alive[static_cast<std::size_t>(i * 7) % alive.size()]);
      std::this_thread::sleep_for(milliseconds(3));
    }
  });
  std::vector<std::thread> users;
  std::atomic<int> done{0};
  for (std::size_t user = 0; user < 16; ++user) {
    users.emplace_back([&, user] {
      const std::string id = ids[user % ids.size()];
      const std::string mine = id.substr(0, 2) + id.substr(3);
      for (int i = 0; i < 40; ++i) {
        if (run(id, {"write", "owner-" + mine, id}).has_value()) ++done;
        if (const auto list = manager_->list(id, ".", 1, Deadline::after(milliseconds(10'000))); list) {
          for (const Entry& entry : *list) EXPECT_EQ(entry.path.substr(0, 10), "owner-" + mine);
        }
        if (i % 13 == static_cast<int>(user) % 13) static_cast<void>(manager_->close(id, Workspace::keep));
      }
    });
  }
  for (std::thread& user : users) user.join();
  cancel.cancel();
  ticker.join();
  killer.join();
  EXPECT_GT(done, 100);
  for (const auto& [sandbox, callers] : sandboxes_.callers()) EXPECT_EQ(callers.size(), 1u) << sandbox;
  for (const auto& id : ids) {
    const auto owner = eventually_run(id, {"read", "owner-" + id.substr(0, 2) + id.substr(3)});
    EXPECT_EQ(owner, id);
  }
}

TEST_F(ManagerTest, RunsNothingWhereASessionStoresTooMuch) {
  Options options = without_pool();
  options.storage_max = 100;
  open(options);
  for (const std::string id : {"t/a", "t/b"}) {
    ASSERT_TRUE(manager_->open(id));
    ASSERT_TRUE(run(id, {"write", "small", std::string(40, 'x')}).has_value());
  }
  ASSERT_TRUE(run("t/a", {"write", "large", std::string(80, 'x')}).has_value());
  const auto sleeper = manager_->start("t/a", program({"sleep"}));
  for (int i = 0; i < 2; ++i) manager_->tick();
  EXPECT_EQ(state("t/a"), SessionState::error);
  EXPECT_THAT(info("t/a").fault, HasSubstr("stores 120 bytes in /workspace, 100 are allowed"));
  EXPECT_TRUE((*sleeper)->ended()) << "it could have gone on to write";
  EXPECT_EQ(state("t/b"), SessionState::idle);
  EXPECT_EQ(info("t/b").stored_bytes, 40u);
  const Deadline soon = Deadline::after(milliseconds(10'000));
  const auto refused = run("t/a", {"true"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().details().at("limit"), "storage");
  EXPECT_THAT(refused.error().to_string(), HasSubstr("remove files"));
  EXPECT_FALSE(manager_->upload("t/a", "more", "x", soon));
  EXPECT_FALSE(manager_->start_background("t/a", program({"true"})));
  EXPECT_TRUE(manager_->download(
      "t/a", "small", [](std::string_view) { return ok(); }, soon));
  EXPECT_EQ(state("t/a"), SessionState::idle) << "what is refused does not run";
  EXPECT_TRUE(manager_->remove("t/a", "large", soon));
  EXPECT_TRUE(run("t/a", {"true"}).has_value());
}

TEST_F(ManagerTest, SaysWhatASandboxUsesAndStartsNoneForThat) {
  open(without_pool());
  const Deadline soon = Deadline::after(milliseconds(10'000));
  EXPECT_EQ(manager_->usage("t/a", soon).error().code(), ErrorCode::file_not_found);
  ASSERT_TRUE(manager_->open("t/a"));
  const auto none = manager_->usage("t/a", soon);
  ASSERT_TRUE(none) << none.error().to_string();
  EXPECT_FALSE(*none);
  EXPECT_EQ(sandbox_of("t/a"), "");
  ASSERT_TRUE(run("t/a", {"write", "small", std::string(40, 'x')}).has_value());
  const auto used = manager_->usage("t/a", soon);
  ASSERT_TRUE(used) << used.error().to_string();
  ASSERT_TRUE(*used);
  EXPECT_EQ((*used)->sandbox, sandbox_of("t/a"));
  EXPECT_EQ((*used)->cpu_ms, 30u);
  EXPECT_EQ((*used)->memory_bytes, 7u);
  EXPECT_EQ((*used)->tmp_bytes, 5u);
  EXPECT_EQ((*used)->workspace_bytes, 40u);
  sandboxes_.kill(sandbox_of("t/a"));
  const auto dead = manager_->usage("t/a", soon);
  EXPECT_TRUE(dead && !*dead);
}

TEST_F(ManagerTest, KnowsWhatTheLastStartHasShown) {
  open(without_pool());
  const auto probe = [&] { return manager_->stats().probe; };
  const std::int64_t begun = clock_.now_ms();
  EXPECT_EQ(probe().probe, Probe::unknown) << "none was started";
  EXPECT_EQ(probe().since_ms, begun);
  const auto start = [&](const std::string& id) {
    clock_.advance(milliseconds(1'000));
    ASSERT_TRUE(manager_->open(id));
    static_cast<void>(run(id, {"true"}));
  };
  start("t/a");
  start("t/b");
  EXPECT_EQ(probe().probe, Probe::allowed);
  EXPECT_EQ(probe().since_ms, begun + 1'000);
  sandboxes_.fail_starts(1, "unproved");
  start("t/c");
  EXPECT_EQ(probe().probe, Probe::violation);
  EXPECT_EQ(probe().since_ms, begun + 3'000);
  sandboxes_.fail_starts(1);
  start("t/d");
  EXPECT_EQ(probe().probe, Probe::unknown) << "nothing was shown";
  start("t/e");
  EXPECT_EQ(probe().probe, Probe::allowed);
}

// Without a call and long before the next tick is due.
TEST_F(ManagerTest, SeesAtOnceThatASandboxDied) {
  open();
  CancelToken cancel;
  std::thread thread([&] { manager_->run(cancel); });
  wait_for_pool(5);
  ASSERT_TRUE(manager_->open("t/a"));
  ASSERT_TRUE(run("t/a", {"true"}).has_value());
  wait_for_pool(5);
  std::this_thread::sleep_for(milliseconds(300));  // its tick is over
  const auto begun = SteadyClock::now();
  sandboxes_.kill(sandbox_of("t/a"));
  EXPECT_TRUE(eventually([&] { return info("t/a").row.state == SessionState::error; }));
  const auto alive = sandboxes_.alive();
  for (const std::string& id : alive) sandboxes_.kill(id);
  EXPECT_TRUE(eventually([&] { return sandboxes_.started() == 11; })) << sandboxes_.started();
  wait_for_pool(5);
  EXPECT_LT(SteadyClock::now() - begun, milliseconds(3'000));
  cancel.cancel();
  thread.join();
}

TEST_F(ManagerTest, RemovesWhatWasTerminatedForTooLong) {
  open(without_pool());
  for (const std::string id : {"t/a", "t/b"}) {
    ASSERT_TRUE(manager_->open(id));
    ASSERT_TRUE(run(id, {"write", "f", id}).has_value());
    ASSERT_TRUE(manager_->close(id, Workspace::keep));
    clock_.advance(std::chrono::hours(24));
  }
  clock_.advance(std::chrono::hours(28 * 24 + 1));
  manager_->tick();
  clock_.advance(std::chrono::hours(24));
  manager_->tick();
  ASSERT_EQ(manager_->sessions().size(), 1u);
  EXPECT_EQ(folders().size(), 1u);
  EXPECT_EQ(said("t/b", {"read", "f"}), "t/b");
}

TEST_F(ManagerTest, RunsByTheClockUntilItIsCancelled) {
  open();
  CancelToken cancel;
  std::thread thread([&] { manager_->run(cancel); });
  wait_for_pool(5);
  cancel.cancel();
  thread.join();
}

}  // namespace
}  // namespace guard::sessions
