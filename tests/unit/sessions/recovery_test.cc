// What every failing step and every death in the middle of one leaves: the ledger whole, each workspace whole, and no
// folder that the ledger does not know.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <random>
#include <set>

#include "sessions/estate.h"
#include "sessions/ledger.h"
#include "tests/support/sessions/sessions_fixture.h"

namespace guard::sessions {
namespace {

namespace fs = std::filesystem;

// How far the story came; kept in memory that a dead child shares with us.
struct Progress {
  std::atomic<bool> a_has_files;
  std::atomic<bool> b_has_files;
  std::atomic<bool> b_removal_begun;
  std::atomic<std::uint64_t> steps;
};

class RecoveryTest : public SessionsTest {
 protected:
  RecoveryTest() {
    void* shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    progress_ = new (shared) Progress{};
  }
  ~RecoveryTest() override { ::munmap(progress_, sizeof(Progress)); }

  Options watched(StepWatch watch) {
    Options options = without_pool();
    options.policy.starts_max = 1;
    options.policy.pool_target = 1;
    options.policy.retry_every = milliseconds(0);
    options.policy.refill_every = milliseconds(0);
    options.watch = std::move(watch);
    return options;
  }

  // Two sessions that are opened, used, closed, that lose their sandboxes and get others. No step has to succeed.
  void tell_story() {
    const Deadline soon = Deadline::after(milliseconds(10'000));
    if (manager_->open("t/a") && run("t/a", {"write", "f", "of a"}) && run("t/a", {"write", "new\nline", "x"}) &&
        manager_->upload("t/a", "folder/deep/g", "deep", soon)) {
      progress_->a_has_files = true;
    }
    if (manager_->open("t/b") && run("t/b", {"write", "f", "of b"})) progress_->b_has_files = true;
    sandboxes_.kill(sandbox("t/a"));
    static_cast<void>(run("t/a", {"true"}));
    static_cast<void>(manager_->start_background("t/a", program({"say", "something"})));
    static_cast<void>(manager_->close("t/b", Workspace::keep));
    static_cast<void>(run("t/b", {"true"}));
    sandboxes_.kill(sandbox("t/a"));
    manager_->tick();
    clock_.advance(milliseconds(61'000));
    manager_->tick();
    static_cast<void>(run("t/a", {"true"}));
    static_cast<void>(manager_->start_background("t/b", program({"sleep"})));
    if (progress_->b_has_files) progress_->b_removal_begun = true;
    static_cast<void>(manager_->close("t/b", Workspace::remove));
    clock_.advance(milliseconds(61'000));
    manager_->tick();
  }

  std::string sandbox(const std::string& id) const {
    for (const SessionInfo& session : manager_->sessions()) {
      if (session.row.id == id) return session.row.workspace;
    }
    return {};
  }

  // That of a manager that has stopped: whole, and it knows every folder and every log.
  void check_ledger() {
    EXPECT_TRUE(sandboxes_.alive().empty());
    const auto ledger = Ledger::open(state_.path());
    ASSERT_TRUE(ledger);
    EXPECT_EQ(*(*ledger)->check(), "ok");
    EXPECT_TRUE((*ledger)->sandboxes()->empty());
    std::set<std::string> known;
    std::set<std::string> ids;
    const auto sessions = *(*ledger)->sessions();
    for (const SessionRow& row : sessions) {
      EXPECT_TRUE(row.moving_from.empty());
      if (!row.workspace.empty()) known.insert(row.workspace);
      ids.insert(row.id);
    }
    for (const std::string& folder : folders()) EXPECT_EQ(known.count(folder), 1u) << "unknown folder " << folder;
    std::set<std::string> logs;
    const auto commands = *(*ledger)->commands("");
    for (const CommandRow& row : commands) {
      EXPECT_NE(row.ended_ms, 0);
      EXPECT_EQ(ids.count(row.session), 1u) << "a command of no session";
      logs.insert(row.id);
    }
    for (const auto& entry : fs::directory_iterator(state_.path() / "logs"))
      EXPECT_EQ(logs.count(entry.path().filename().string()), 1u) << "unknown log";
  }

  // Everything of the story that was promised is there, and nothing else.
  void check_all() {
    open(without_pool());
    const auto notes = manager_->notes();
    EXPECT_TRUE(notes.empty()) << notes.front();
    if (progress_->a_has_files) {
      EXPECT_EQ(eventually_run("t/a", {"read", "f"}), "of a");
      EXPECT_EQ(eventually_run("t/a", {"read", "new\nline"}), "x");
      EXPECT_EQ(eventually_run("t/a", {"read", "folder/deep/g"}), "deep");
    }
    if (progress_->b_has_files && !progress_->b_removal_begun) {
      EXPECT_EQ(eventually_run("t/b", {"read", "f"}), "of b");
    }
    manager_.reset();
    check_ledger();
    open(without_pool());
    for (const SessionInfo& session : manager_->sessions())
      EXPECT_TRUE(manager_->close(session.row.id, Workspace::remove));
    manager_.reset();
    EXPECT_TRUE(folders().empty());
    EXPECT_TRUE(fs::is_empty(state_.path() / "logs"));
  }

  void start_afresh() {
    manager_.reset();
    state_ = new_state();
    new (progress_) Progress{};
  }

  // Runs `work` in a child that dies at its step number `fatal`. False: it did not come so far.
  template <typename Work>
  bool dies_at(std::uint64_t fatal, const Work& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::atomic<std::uint64_t> steps{0};
      auto opened = Manager::open(state_.path(), sandboxes_.factory(), clock_, watched([&](std::string_view) {
        if (++steps == fatal) ::raise(SIGKILL);
        return ok();
      }));
      if (!opened) ::_exit(3);
      manager_ = std::move(*opened);
      work();
      manager_->stop(milliseconds(0));
      ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        << status;
    return WIFSIGNALED(status);
  }

  Progress* progress_ = nullptr;
};

TEST_F(RecoveryTest, SurvivesTheFailureOfEveryStep) {
  std::uint64_t steps_seen = 0;
  for (std::uint64_t failing = 0; failing <= steps_seen; ++failing) {  // 0: none does
    SCOPED_TRACE(fmt::format("step {} fails", failing));
    start_afresh();
    std::atomic<std::uint64_t> steps{0};
    std::string failed;
    open(watched([&](std::string_view step) -> Result<void> {
      if (++steps != failing) return ok();
      return Error(ErrorCode::io_error, fmt::format("no space for {}", step));
    }));
    tell_story();
    for (int i = 0; i < 3; ++i) manager_->tick();
    EXPECT_EQ(progress_->a_has_files ? eventually_run("t/a", {"read", "f"}) : "of a", "of a");
    if (failing == 0) steps_seen = steps;
    manager_.reset();
    check_all();
    if (HasFailure()) break;
  }
  EXPECT_GT(steps_seen, 40u);
}

// A full disk: from some step on all fail, until there is space again.
TEST_F(RecoveryTest, SurvivesTheFailureOfAllStepsFromOneOn) {
  for (std::uint64_t first = 1; first < 70; first += 3) {
    SCOPED_TRACE(fmt::format("steps fail from {} on", first));
    start_afresh();
    std::atomic<std::uint64_t> steps{0};
    std::atomic<bool> full{true};
    open(watched([&](std::string_view) -> Result<void> {
      if (++steps < first || !full) return ok();
      return Error(ErrorCode::io_error, "no space");
    }));
    tell_story();
    full = false;
    for (int i = 0; i < 3; ++i) manager_->tick();
    EXPECT_EQ(progress_->a_has_files ? eventually_run("t/a", {"read", "f"}) : "of a", "of a");
    manager_.reset();
    check_all();
    if (HasFailure()) break;
  }
}

TEST_F(RecoveryTest, SurvivesItsDeathInEveryStep) {
  for (std::uint64_t fatal = 1;; ++fatal) {
    SCOPED_TRACE(fmt::format("death in step {}", fatal));
    start_afresh();
    const bool died = dies_at(fatal, [this] { tell_story(); });
    check_all();
    if (HasFailure()) break;
    if (!died) {
      EXPECT_GT(fatal, 40u);
      break;
    }
  }
}

TEST_F(RecoveryTest, SurvivesItsDeathInEveryStepOfARecovery) {
  for (const std::uint64_t fatal : {9u, 15u, 20u, 25u, 30u, 35u, 40u, 45u, 50u}) {
    for (std::uint64_t again = 1;; ++again) {
      SCOPED_TRACE(fmt::format("death in step {}, then in step {} of the recovery", fatal, again));
      start_afresh();
      dies_at(fatal, [this] { tell_story(); });
      const bool died = dies_at(again, [] {});
      check_all();
      if (HasFailure()) return;
      if (!died) break;
    }
  }
}

// Four sessions at work, guard killed at any moment, 200 times on the same state: what was acknowledged is there.
TEST_F(RecoveryTest, SurvivesDeathsAtAnyMomentUnderLoad) {
  constexpr std::size_t kSessions = 4;
  struct Written {
    std::atomic<int> acknowledged[kSessions];
  };
  void* shared = ::mmap(nullptr, sizeof(Written), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* written = new (shared) Written{};
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const pid_t child = ::fork();
    if (child == 0) {
      auto opened = Manager::open(state_.path(), sandboxes_.factory(), clock_, {});
      if (!opened) ::_exit(3);
      manager_ = std::move(*opened);
      std::vector<std::thread> users;
      for (std::size_t i = 0; i < kSessions; ++i) {
        users.emplace_back([&, i] {
          const std::string id = fmt::format("t{}/c{}", i % 2, i);
          for (int value = written->acknowledged[i] + 1;; ++value) {
            static_cast<void>(manager_->open(id));
            if (run(id, {"write", "value", fmt::format("{}", value)})) written->acknowledged[i] = value;
            if (value % 3 == 0) sandboxes_.kill(sandbox(id));
            if (value % 7 == 0) static_cast<void>(manager_->close(id, Workspace::keep));
            if (value % 5 == 0) manager_->tick();
          }
        });
      }
      for (std::thread& user : users) user.join();
    }
    std::this_thread::sleep_for(milliseconds(5 + random() % 30));
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    open(without_pool());
    const auto notes = manager_->notes();
    EXPECT_TRUE(notes.empty()) << notes.front();
    for (std::size_t i = 0; i < kSessions; ++i) {
      const int known = written->acknowledged[i];
      if (known == 0) continue;
      const int value = std::stoi("0" + said(fmt::format("t{}/c{}", i % 2, i), {"read", "value"}));
      EXPECT_TRUE(value == known || value == known + 1) << value << " instead of " << known;
      written->acknowledged[i] = value;
    }
    manager_.reset();
    check_ledger();
    if (HasFailure()) break;
  }
  int sum = 0;
  for (const auto& one : written->acknowledged) sum += one;
  EXPECT_GT(sum, 100);
  ::munmap(shared, sizeof(Written));
}

TEST(Recovery, IsAFunctionOfTheRows) {
  const std::vector<SandboxRow> sandboxes = {{"r1", SandboxState::pooled, "", 1, 0},
      {"r2", SandboxState::claimed, "t/a", 1, 0}, {"r3", SandboxState::starting, "", 1, 0},
      {"r4", SandboxState::closing, "t/b", 1, 0}};
  SessionRow moving;
  moving.id = "t/a";
  moving.workspace = "r2";
  moving.moving_from = "r0";
  SessionRow removing;
  removing.id = "t/c";
  removing.removing = true;
  CommandRow live;
  live.id = "k1";
  live.session = "t/a";
  CommandRow over = live;
  over.ended_ms = 5;
  CommandRow orphan = live;
  orphan.session = "t/none";
  const Recovery left = recovery(sandboxes, std::vector{moving, removing}, std::vector{live, over, orphan});
  ASSERT_EQ(left.sandboxes.size(), 4u);
  EXPECT_FALSE(left.sandboxes[0].has_session);
  EXPECT_TRUE(left.sandboxes[1].has_session);
  EXPECT_FALSE(left.sandboxes[3].has_session) << "no session names its folder any more";
  ASSERT_EQ(left.moves.size(), 1u);
  ASSERT_EQ(left.removals.size(), 1u);
  EXPECT_EQ(left.lost.size(), 1u);
  EXPECT_EQ(left.orphans.size(), 1u);
}

// What a sandbox of a dead guard left must be gone before its workspace is touched.
TEST_F(RecoveryTest, TouchesNoWorkspaceBeforeTheLeftoverIsGone) {
  ASSERT_TRUE(dies_at(12, [this] { tell_story(); }));
  std::vector<std::string> asked;
  std::atomic<bool> stuck{true};
  Options options = without_pool();
  options.remove_leftover = [&](const std::string& id) -> Result<void> {
    asked.push_back(id);
    return stuck ? Result<void>(Error(ErrorCode::io_error, "stuck")) : ok();
  };
  const auto before = folders();
  open(options);
  EXPECT_FALSE(asked.empty());
  EXPECT_EQ(manager_->notes().size(), asked.size());
  EXPECT_EQ(folders(), before);
  stuck = false;
  manager_->tick();
  manager_.reset();
  check_all();
}

TEST_F(RecoveryTest, LeavesFoldersAloneThatItDoesNotKnow) {
  open(without_pool());
  manager_.reset();
  fs::create_directories(state_.path() / "workspaces" / "mine");
  open(without_pool());
  EXPECT_EQ(manager_->notes().size(), 1u);
  EXPECT_EQ(folders(), (std::vector<std::string>{"mine"}));
}

}  // namespace
}  // namespace guard::sessions
