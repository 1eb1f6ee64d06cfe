// Nights through the binary: real git, a real sandbox, real bun, and a generator that behaves as the plan says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "nightly/loop/journal.h"
#include "tests/support/program/nightly_night.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// What each behaviour must come to.
struct Expected {
  std::string behaviour;
  std::string outcome;
};

// The page of a whole night: accepted exactly the good ones, each refusal with its reason.
void expect_night(std::string_view backend, const std::vector<Expected>& rows, std::string_view head) {
  const NightRepository night(backend,
      "[docker]\ntimeout = 5\n[namespace]\ntimeout = 5\n[nightly]\nmin_free = \"1m\"\nworth_mutants = "
      "3\n[limits]\noutput_flood = \"20m\"\n");
  std::vector<NightTask> tasks;
  std::map<std::string, std::string> expected;
  std::vector<std::string> accepted;
  for (const auto& row : rows) {
    const std::string id = row.behaviour + "-" + std::to_string(tasks.size());
    tasks.push_back({id, row.behaviour, row.behaviour == "hangs" ? "generator_timeout = 1\n" : ""});
    expected[id] = row.outcome;
    if (row.outcome == "accepted") accepted.push_back(id);
  }
  night.plan(tasks, head);
  const auto done = night.run();
  EXPECT_EQ(done.exit_status, 1) << done.err;
  EXPECT_EQ(night.outcomes(), expected) << done.err;
  EXPECT_THAT(night.committed(), ::testing::UnorderedElementsAreArray(accepted));
  EXPECT_THAT(night.leftovers(), IsEmpty());
  EXPECT_FALSE(fs::exists(night.state() / "ran")) << "what a generator planted was run";
  EXPECT_FALSE(fs::exists(night.state() / "clones" / "ran")) << "what a generator planted was run";
  // Every commit holds one new test and nothing else, and its evidence is what the trailer says.
  for (const auto& id : accepted) {
    const auto file = night.repository().shell("git cat-file -e " + night.branch() + ":sandbox/" + id + ".test.ts");
    EXPECT_EQ(file.exit_status, 0) << id;
  }
}

const std::vector<Expected> kEveryBehaviour = {
    {"good", "accepted"},
    {"chatty", "accepted"},
    {"commits", "accepted"},
    {"repairs", "accepted"},
    {"repairs_tests", "accepted"},
    {"repairs_worth", "accepted"},
    {"repairs_policy", "accepted"},
    {"repairs_always", "accepted"},
    {"no_git", "accepted"},
    {"escapes", "refused:findings"},
    {"fails", "refused:tests_failed"},
    {"tautology", "refused:worthless"},
    {"flaky", "refused:flaky"},
    {"lockfile", "refused:findings"},
    {"too_many", "refused:findings"},
    {"attributes", "refused:findings"},
    {"link", "refused:findings"},
    {"swaps", "refused:findings"},
    {"huge", "refused:findings"},
    {"many", "refused:findings"},
    {"hooks", "refused:findings"},
    {"fsmonitor", "refused:findings"},
    {"leads_out", "refused:findings"},
    {"secret", "refused:findings"},
    {"nothing", "refused:no_change"},
    {"deletes_a_test", "refused:findings"},
    {"renames_a_test", "refused:findings"},
    {"edits_the_code", "refused:findings"},
    {"empty", "refused:no_tests"},
    {"hangs_in_test", "refused:timed_out"},
    {"crashes", "failed:generator_crashed"},
    {"fails_itself", "failed:generator_failed"},
    {"hangs", "failed:generator_timed_out"},
    {"floods", "failed:generator_flooded"},
    {"daemon", "refused:left_processes"},
};

TEST(Nightly, TellsEveryBehaviourApartInTheEmbeddedSandbox) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  expect_night("namespace", kEveryBehaviour, "[budget]\nfailures_in_a_row = 100\n");
}

// What a night accepts leaves every test that passed before in place, whatever the kind of the task.
TEST(Nightly, AcceptsNoWeakerTests) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth_runs = 1\nworth_mutants = 1\n");
  const Repository& repository = night.repository();
  repository.write("sandbox/add.test.ts",
      "import { describe, expect, test } from \"bun:test\";\nimport { add } from \"../src/add\";\n\n"
      "test(\"adds\", () => {\n  expect(add(1, 2)).toBe(3);\n  expect(add(2, 2)).toBe(4);\n});\n"
      "test(\"adds negatives\", () => { expect(add(-1, -2)).toBe(-3); });\n"
      "describe(\"zero\", () => {\n  test(\"left\", () => { expect(add(0, 1)).toBe(1); });\n  test(\"right\", () => { "
      "expect(add(1, 0)).toBe(1); });\n});\n");
  repository.write("sandbox/sums.ts", "export const sums = [[1, 1, 2], [2, 3, 5]];\n");
  repository.write("sandbox/table.test.ts",
      "import { expect, test } from \"bun:test\";\nimport { add } from \"../src/add\";\nimport { sums } from "
      "\"./sums\";\n\n"
      "for (const [a, b, sum] of sums) test(`${a} and ${b}`, () => { expect(add(a, b)).toBe(sum); });\n");
  repository.write("src/far.test.ts",
      "import { expect, test } from \"bun:test\";\n\ntest(\"far\", () => { expect(1).toBe(1); });\n");
  repository.must("git add -A && git commit -q -m 'more tests'");
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"guts_a_test", "refused:tests_weakened"}, {"skips_a_group", "refused:tests_weakened"},
      {"todo_test", "refused:tests_weakened"}, {"asserts_less", "refused:tests_weakened"},
      {"empties_a_table", "refused:tests_weakened"}, {"drops_a_test_file", "refused:tests_weakened"},
      {"hides_a_test_file", "refused:tests_weakened"}, {"guts_a_test_elsewhere", "refused:tests_weakened"},
      {"repairs_gutted", "accepted"},  // the title was in the feedback
  };
  std::vector<NightTask> tasks;
  std::map<std::string, std::string> expected;
  for (const auto& [behaviour, outcome] : rows) {
    tasks.push_back({behaviour, behaviour,
        std::string("kind = \"any\"\n") + (behaviour == "repairs_gutted" ? "attempts = 2\n" : "")});
    expected[behaviour] = outcome;
  }
  tasks.push_back({"guts_as_test", "guts_a_test"});
  expected["guts_as_test"] = "refused:tests_weakened";
  tasks.push_back({"extends_as_test", "extends_a_test"});
  expected["extends_as_test"] = "accepted";
  tasks.push_back({"moves", "moves_a_test_file", "kind = \"any\"\n"});
  expected["moves"] = "accepted";
  // One attempt each is enough: only one of them repairs anything.
  night.plan(tasks, "attempts = 1\n[budget]\nfailures_in_a_row = 100\n");
  const auto done = night.run();
  EXPECT_EQ(done.exit_status, 1) << done.err;
  EXPECT_EQ(night.outcomes(), expected) << done.err;
  EXPECT_THAT(night.leftovers(), IsEmpty());
}

TEST(Nightly, TellsBehavioursApartInContainersSideBySide) {
  GUARD_NEEDS(Needs::docker);
  expect_night("docker",
      {{"good", "accepted"}, {"repairs", "accepted"}, {"tautology", "refused:worthless"}, {"link", "refused:findings"},
          {"crashes", "failed:generator_crashed"}, {"good", "accepted"}},
      "jobs = 3\n[budget]\nfailures_in_a_row = 100\n");
}

TEST(Nightly, NeverRunsWhatIsNeverGenerated) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night;
  night.plan({{"aimed", "good\nWrite tests for the ALWAYS_BLOCK rules."}}, "");
  const auto done = night.run();
  EXPECT_EQ(done.exit_status, 1) << done.err;
  EXPECT_EQ(night.outcomes()["aimed"], "refused:never_generated");
  EXPECT_TRUE(fs::is_empty(night.state() / "outputs")) << "the generator ran";
}

// The generator's words are kept, without the key and without what a terminal would act on.
TEST(Nightly, MasksWhatAGeneratorSays) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  night.plan({{"chatty", "chatty"}});
  EXPECT_EQ(night.run().exit_status, 0);
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(night.state())) {
    if (entry.is_regular_file()) all += read_file(entry.path(), 64u << 20).value_or("");
  }
  EXPECT_THAT(all, Not(HasSubstr(std::string(93, 'Q'))));
  EXPECT_THAT(all, HasSubstr("[REDACTED:"));
  EXPECT_THAT(all, Not(HasSubstr("\033]0;")));
}

TEST(Nightly, SaysWhatIsWrongWithAPlan) {
  const NightRepository night;
  EXPECT_TRUE(write_file_atomically(night.plan_file(), "generatr = [\"x\"]\n[[task]]\nid = \"\"\n"));
  const auto done = night.guard({"nightly", "plan", night.plan_file()});
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_THAT(done.err, HasSubstr("generatr"));
  EXPECT_EQ(night.guard({"nightly", "run", "/nonexistent/plan.toml"}).exit_status, 2);
}

TEST(Nightly, PutsATaskBackWhereNothingCanBeRun) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  // The engine cannot be reached: its state is unknown, and nothing runs anywhere.
  const NightRepository night("namespace");
  night.repository().write("guard.toml", "backend = \"docker\"\n");
  night.repository().must("git commit -qam docker");
  night.plan({{"one", "good"}, {"two", "good"}}, "[budget]\nput_backs = 2\nback_off_ms = 10\n");
  ProcessSpec spec;
  spec.argv = {GUARD_PROGRAM, "nightly", "run", night.plan_file(), "--state", night.state().string()};
  spec.cwd = night.repository().path().string();
  spec.env = night.environment();
  spec.env["DOCKER_HOST"] = "unix:///nonexistent/engine.sock";
  const auto done = run_program(spec);
  EXPECT_EQ(done.exit_status, 3) << done.out << done.err;
  EXPECT_THAT(night.committed(), IsEmpty());
  for (const auto& [task, outcome] : night.outcomes()) EXPECT_THAT(outcome, ::testing::StartsWith("waiting")) << task;
}

TEST(Nightly, RefusesTestFilesThatShareAProcess) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace");
  night.repository().write("guard.toml", "backend = \"namespace\"\n[run]\nisolation = \"run\"\n");
  night.repository().must("git commit -qam shared");
  night.plan({{"one", "good"}});
  const auto done = night.guard({"nightly", "run", night.plan_file()});
  EXPECT_EQ(done.exit_status, 2) << done.out << done.err;
  EXPECT_THAT(done.err, HasSubstr("run.isolation"));
  EXPECT_THAT(night.committed(), IsEmpty());
}

TEST(Nightly, RefusesASecondLoop) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  night.plan({{"slow", "hangs"}}, "attempts = 1\n");
  auto env = night.environment();
  const pid_t first = start_guard({"nightly", "run", night.plan_file(), "--project", night.repository().path().string(),
                                      "--state", night.state().string()},
      env);
  for (int i = 0; i < 300 && night.guard({"nightly", "status"}).out.find("running") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto second = night.run();
  EXPECT_EQ(second.exit_status, 2);
  EXPECT_THAT(second.err, HasSubstr("another loop"));
  EXPECT_THAT(night.guard({"nightly", "status"}).out, HasSubstr("running"));
  ::kill(first, SIGTERM);
  int status = 0;
  ::waitpid(first, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 143) << status;
  EXPECT_THAT(night.guard({"nightly", "status"}).out, HasSubstr("stopped"));
  EXPECT_THAT(night.leftovers(), IsEmpty());
}

TEST(Nightly, StopsWhenAskedAndGoesOnLater) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  std::vector<NightTask> tasks;
  for (int i = 0; i < 6; ++i) tasks.push_back({"t" + std::to_string(i), "slow"});
  night.plan(tasks);
  const pid_t loop = start_guard({"nightly", "run", night.plan_file(), "--project", night.repository().path().string(),
                                     "--state", night.state().string()},
      night.environment());
  for (int i = 0; i < 500 && night.committed().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto asked = night.guard({"nightly", "stop"});
  EXPECT_EQ(asked.exit_status, 0) << asked.err;
  int status = 0;
  ::waitpid(loop, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2) << "undecided tasks are left";
  const auto before = night.committed();
  EXPECT_LT(before.size(), tasks.size());
  const auto resumed = night.guard({"nightly", "resume"});
  EXPECT_EQ(resumed.exit_status, 0) << resumed.err;
  EXPECT_THAT(night.committed(), ElementsAre("t0", "t1", "t2", "t3", "t4", "t5"));
}

// Killed at any moment: the same tasks are accepted, each commit is there once, and nothing is left behind.
TEST(Nightly, SurvivesKills) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  std::vector<NightTask> tasks;
  for (const char* behaviour : {"good", "repairs", "escapes", "slow", "commits", "fails", "daemon", "good"}) {
    tasks.push_back({std::string(behaviour) + std::to_string(tasks.size()), behaviour});
  }
  std::map<std::string, std::string> slow;
  std::vector<std::string> accepted = {"good0", "repairs1", "slow3", "commits4", "good7"};
  for (int i = 0; i < 24; ++i) {
    const std::string id = "more" + std::to_string(i);
    tasks.push_back({id, "slow"});
    slow[id] = "accepted";
    accepted.push_back(id);
  }
  night.plan(tasks, "jobs = 2\n[budget]\nfailures_in_a_row = 100\n");
  const std::vector<std::string> places = {
      "--project", night.repository().path().string(), "--state", night.state().string()};
  std::vector<std::string> arguments = {"nightly", "run", "--resume", night.plan_file()};
  arguments.insert(arguments.end(), places.begin(), places.end());
  int killed = 0;
  // The soak (tests/soak) asks for more.
  const char* wanted = std::getenv("GUARD_TEST_NIGHT_KILLS");
  const int rounds = wanted == nullptr ? 40 : std::atoi(wanted);
  for (int round = 0; killed < rounds && round < 2 * rounds; ++round) {
    const pid_t loop = start_guard(arguments, night.environment());
    const auto moment = std::chrono::milliseconds(20 + (round * 137) % (wanted == nullptr ? 500 : 250));
    std::this_thread::sleep_for(moment);
    ::kill(loop, SIGKILL);
    int status = 0;
    ::waitpid(loop, &status, 0);
    if (WIFSIGNALED(status)) ++killed;
    if (WIFEXITED(status)) break;
  }
  EXPECT_GT(killed, 3);
  // Before it is resumed, all who show it say the same.
  const auto state = night.guard({"nightly", "status", "--format", "json"}).document()["night"]["state"];
  EXPECT_THAT(state, ::testing::AnyOf("killed", "finished"));
  EXPECT_EQ(night.guard({"nightly", "report", "--format", "json"}).document()["night"]["state"], state);
  const auto last = night.guard({"nightly", "resume"});
  EXPECT_LE(last.exit_status, 1) << last.err;
  const std::map<std::string, std::string> expected = {{"good0", "accepted"}, {"repairs1", "accepted"},
      {"escapes2", "refused:findings"}, {"slow3", "accepted"}, {"commits4", "accepted"},
      {"fails5", "refused:tests_failed"}, {"daemon6", "refused:left_processes"}, {"good7", "accepted"}};
  slow.insert(expected.begin(), expected.end());
  EXPECT_EQ(night.outcomes(), slow);
  EXPECT_THAT(night.committed(), ::testing::UnorderedElementsAreArray(accepted));
  // What a kill left behind is gone with the next start at the latest.
  EXPECT_THAT(night.leftovers(), IsEmpty());
  const auto journal = nightly::Journal::open(night.state() / "journal.sqlite", nightly::Journal::Access::read);
  ASSERT_TRUE(journal) << journal.error().to_string();
  EXPECT_EQ(journal->check().value_or("(unreadable)"), "");
  std::cout << killed << " kills\n";
}

// The full disk: a clear stop, and the night goes on once there is room.
TEST(Nightly, StopsWhereTheDiskIsFull) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nmin_free = \"1t\"\n");
  night.plan({{"one", "good"}});
  const auto done = night.run();
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_THAT(done.err, HasSubstr("free"));
}

// A disk of its own for the state.
class SmallDisk {
 public:
  explicit SmallDisk(fs::path folder) : folder_(std::move(folder)) {
    fs::create_directories(folder_);
    mounted_ = ::mount("none", folder_.c_str(), "tmpfs", 0, "size=8m,mode=700") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  // Whoever still writes there, a supervisor that ends its generator say, is waited for.
  void remount(unsigned long flags, const char* options) const {
    int done = -1;
    for (int i = 0; i < 500 && (done = ::mount("none", folder_.c_str(), "tmpfs", MS_REMOUNT | flags, options)) != 0;
         ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(done, 0);
  }

 private:
  fs::path folder_;
  bool mounted_ = false;
};

TEST(Nightly, LosesNothingWhenTheDiskFillsUpMidway) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\nmin_free = \"1m\"\n");
  const SmallDisk disk(night.state());
  if (!disk.mounted()) GTEST_SKIP() << "only root can mount a small disk";
  night.plan(
      {{"before", "good"}, {"filler", "fills"}, {"after", "good"}}, "[budget]\nback_off_ms = 10\nput_backs = 3\n");
  const auto full = night.run();
  EXPECT_EQ(full.exit_status, 2) << full.err;
  EXPECT_TRUE(fs::remove(night.state() / "filler"));
  EXPECT_THAT(night.committed(), ElementsAre("before"));
  disk.remount(0, "size=64m,mode=700");
  const auto more = night.guard({"nightly", "resume"});
  EXPECT_EQ(more.exit_status, 0) << more.err;
  EXPECT_THAT(night.committed(), ::testing::UnorderedElementsAre("before", "filler", "after"));
}

TEST(Nightly, LosesNothingWhenTheDiskBecomesReadOnly) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\nmin_free = \"1m\"\n");
  const SmallDisk disk(night.state());
  if (!disk.mounted()) GTEST_SKIP() << "only root can mount a small disk";
  night.plan({{"a", "slow"}, {"b", "slow"}, {"c", "slow"}});
  const pid_t loop = start_guard({"nightly", "run", night.plan_file(), "--project", night.repository().path().string(),
                                     "--state", night.state().string()},
      night.environment());
  for (int i = 0; i < 500 && night.committed().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  // Files that are open for writing forbid a remount; the loop's own journal is one. So the loop is stopped, and
  // started on such a disk.
  ::kill(loop, SIGKILL);
  ::waitpid(loop, nullptr, 0);
  disk.remount(MS_RDONLY, "size=8m");
  const auto refused = night.guard({"nightly", "resume"});
  EXPECT_EQ(refused.exit_status, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("Read-only"));
  disk.remount(0, "size=8m");
  EXPECT_EQ(night.guard({"nightly", "resume"}).exit_status, 0);
  EXPECT_THAT(night.committed(), ::testing::UnorderedElementsAre("a", "b", "c"));
}

// Whoever reads what was wrong and fixes it is accepted at the second attempt.
TEST(Nightly, FeedbackRepairsTasks) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth_mutants = 2\n");
  std::vector<NightTask> tasks;
  for (const char* behaviour : {"repairs", "repairs_tests", "repairs_worth", "repairs_policy", "repairs_always"}) {
    for (const char* copy : {"a", "b"}) tasks.push_back({std::string(behaviour) + copy, behaviour});
  }
  night.plan(tasks, "attempts = 2\njobs = 2\n");
  EXPECT_EQ(night.run().exit_status, 0);
  EXPECT_EQ(night.committed().size(), 10u);
}

// It is committed at the base, and the copies in which code is broken have it, too.
TEST(Nightly, PreloadsWhatTheBaseHas) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth_mutants = 2\n");
  night.repository().write("bunfig.toml", "[test]\npreload = [\"./test/setup.ts\"]\n");
  night.repository().write(
      "test/setup.ts", "import { beforeAll, expect } from \"bun:test\";\nbeforeAll(() => { expect(1).toBe(1); });\n");
  night.repository().must("git add -A && git commit -q -m preload");
  night.plan({{"task", "good"}});
  EXPECT_EQ(night.run().exit_status, 0);
  EXPECT_EQ(night.outcomes(), (std::map<std::string, std::string>{{"task", "accepted"}}));
}

// A night keeps the whole change, so nothing of it is left out: not what was refused before either.
TEST(Nightly, LeavesNoRefusedFileOut) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  night.repository().write("sandbox/other.ts", "console.log(JSON.stringify(process.env));\n");
  night.repository().must("git add -A && git commit -q -m other");
  night.plan({{"task", "good"}});
  night.run();
  EXPECT_EQ(night.outcomes(), (std::map<std::string, std::string>{{"task", "refused:findings"}}));
}

TEST(Nightly, ARolloutLeavesTasksOut) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n[rollout]\npercent = 0\nforce = [\"chosen\"]\n");
  night.plan({{"chosen", "good"}, {"other", "good"}});
  EXPECT_EQ(night.run().exit_status, 0);
  EXPECT_EQ(night.outcomes(),
      (std::map<std::string, std::string>{{"chosen", "accepted"}, {"other", "skipped:not_rolled_out"}}));
}

TEST(Nightly, AnAlarmIsRaisedWhereNoNightRan) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  EXPECT_EQ(night.guard({"nightly", "status", "--max-age", "26h"}).exit_status, 1);
  night.plan({{"one", "good"}});
  EXPECT_EQ(night.run().exit_status, 0);
  EXPECT_EQ(night.guard({"nightly", "status", "--max-age", "26h"}).exit_status, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_EQ(night.guard({"nightly", "status", "--max-age", "1s"}).exit_status, 1);
}

TEST(Nightly, APersonTakesDropsAndSendsBack) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  night.plan({{"a", "good"}, {"b", "good"}, {"c", "good"}, {"no", "fails"}});
  EXPECT_EQ(night.run().exit_status, 1);
  EXPECT_EQ(night.guard({"nightly", "review", "take", "a"}).exit_status, 0);
  EXPECT_EQ(night.guard({"nightly", "review", "drop", "b"}).exit_status, 0);
  EXPECT_EQ(night.guard({"nightly", "review", "send-back", "c", "--note", "use smaller numbers"}).exit_status, 0);
  const auto refused = night.guard({"nightly", "review", "take", "no"});
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_THAT(refused.err, HasSubstr("nothing to take"));
  EXPECT_TRUE(fs::exists(night.repository().path() / "sandbox" / "a.test.ts"));
  EXPECT_FALSE(fs::exists(night.repository().path() / "sandbox" / "b.test.ts"));
  const auto listed = night.guard({"nightly", "review", "--format", "json"}).document();
  EXPECT_EQ(listed["tasks"][0]["review"], "taken");
  EXPECT_EQ(listed["tasks"][2]["review"], "sent_back");
  // The next night's generator reads the note.
  night.plan({{"c", "wants_a_note"}});
  EXPECT_EQ(night.run().exit_status, 0);
}

TEST(Nightly, ThePageHoldsTheWholeNight) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  night.plan({{"fine", "good"}, {"bad", "escapes"}});
  night.run();
  for (const char* format : {"text", "md", "html", "json"}) {
    const auto page = night.guard({"nightly", "report", "--format", format});
    EXPECT_EQ(page.exit_status, 0) << page.err;
    EXPECT_THAT(page.out, HasSubstr("fine")) << format;
    EXPECT_THAT(page.out, HasSubstr("bad")) << format;
  }
  EXPECT_TRUE(fs::exists(night.state() / "report.html"));
}

// On the host nothing stands between code and machine: what a task writes into src/ is judged by all tiers, too.
TEST(Nightly, JudgesTheCodeItselfWhereItRunsOnTheHost) {
  const NightRepository night("host", "[nightly]\nworth = false\n");
  night.plan({{"code", "runs_in_the_code", "kind = \"any\"\n"}}, "attempts = 1\n");
  EXPECT_EQ(night.run().exit_status, 1);
  EXPECT_EQ(night.outcomes()["code"], "refused:findings");
}

// What guard masks because it knows it is not committed in clear.
TEST(Nightly, NeverCommitsAValueThatItKnowsToBeSecret) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  night.plan({{"knows", "knows"}}, "attempts = 1\ngenerator_env = [\"PATH\", \"NIGHT_TEST_TOKEN\"]\n");
  ProcessSpec spec;
  spec.argv = {GUARD_PROGRAM, "nightly", "run", night.plan_file(), "--state", night.state().string()};
  spec.cwd = night.repository().path().string();
  spec.env = night.environment();
  spec.env["NIGHT_TEST_TOKEN"] = "correct-horse-battery-staple-7";
  EXPECT_EQ(run_program(spec).exit_status, 1);
  EXPECT_EQ(night.outcomes()["knows"], "refused:findings");
  EXPECT_THAT(night.guard({"nightly", "report"}).out, Not(HasSubstr("battery")));
}

// Another task was there first: the next clone is made of what that one left.
TEST(Nightly, ATaskThatWasOvertakenBeginsAnew) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  night.plan({{"one", "shares"}, {"two", "shares"}}, "attempts = 1\njobs = 2\n");
  EXPECT_EQ(night.run().exit_status, 0);
  EXPECT_THAT(night.committed(), ::testing::UnorderedElementsAre("one", "two"));
}

TEST(Nightly, EndsWhereSomebodyElseMovesItsBranch) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  std::vector<NightTask> tasks;
  for (int i = 0; i < 8; ++i) tasks.push_back({"t" + std::to_string(i), "slow"});
  night.plan(tasks, "branch = \"night\"\n");
  const pid_t loop = start_guard({"nightly", "run", night.plan_file(), "--project", night.repository().path().string(),
                                     "--state", night.state().string()},
      night.environment());
  for (int i = 0; i < 500 && night.committed().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  night.repository().must("git update-ref refs/heads/night main");
  int status = 0;
  ::waitpid(loop, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << status;
  EXPECT_THAT(night.committed(), IsEmpty()) << "nothing was committed onto a branch that somebody else moved";
}

TEST(Nightly, AResumedNightIsJudgedAsItBegan) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  const fs::path config = night.state().parent_path() / "strict.toml";
  EXPECT_TRUE(write_file_atomically(
      config, "backend = \"namespace\"\n[nightly]\nworth = false\n[policy]\nmax_diff_lines = 1\n"));
  night.plan({{"a", "good"}, {"b", "good"}}, "[budget]\nattempts = 1\n");
  EXPECT_EQ(night.guard({"nightly", "run", night.plan_file(), "--config", config.string()}).exit_status, 2);
  const auto refused = night.guard({"nightly", "resume"});
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_THAT(refused.err, HasSubstr("another configuration"));
  EXPECT_THAT(night.committed(), IsEmpty());
}

// A budget that was used up ends a night; the next start begins a new one, and a person's `resume` goes on with a fresh
// budget. What was decided stays decided, over three nights and whatever the person says in between.
TEST(Nightly, RunsNothingAgainThatWasDecided) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  const std::vector<NightTask> tasks = {{"taken", "good"}, {"dropped", "good"}, {"unseen", "good"}, {"back", "good"},
      {"refused", "fails", "attempts = 1\n"}, {"broken", "fails_itself", "attempts = 1\n"}};
  night.plan(tasks);
  EXPECT_EQ(night.run().exit_status, 1);
  const std::string first_night = night.guard({"nightly", "status", "--format", "json"}).document()["night"]["id"];
  ASSERT_EQ(night.guard({"nightly", "review", "take", "taken"}).exit_status, 0);
  ASSERT_EQ(night.guard({"nightly", "drop", "dropped"}).exit_status, 0);
  ASSERT_EQ(night.guard({"nightly", "retry", "back", "--note", "use smaller numbers"}).exit_status, 0);
  const auto second = night.run();
  EXPECT_EQ(second.exit_status, 1) << second.err;
  EXPECT_THAT(night.committed(), ElementsAre("back"));
  const auto outcomes = night.outcomes();
  EXPECT_EQ(outcomes.at("taken"), "skipped:taken");
  EXPECT_EQ(outcomes.at("dropped"), "skipped:dropped");
  EXPECT_EQ(outcomes.at("unseen"), "skipped:to_review");
  EXPECT_EQ(outcomes.at("refused"), "skipped:given_up");
  EXPECT_EQ(outcomes.at("broken"), "failed:generator_failed");
  const auto report = night.guard({"nightly", "report"});
  EXPECT_THAT(report.out, HasSubstr("guard nightly review"));
  EXPECT_THAT(report.out, HasSubstr("its last line: no idea"));
  // The failed test of the one that was given up, with its place and what was expected.
  const auto first = night.guard({"nightly", "report", "--night", first_night, "--format", "json"}).document();
  const auto& given_up = first["tasks"][4]["attempts"][0];
  ASSERT_EQ(given_up["findings"].size(), 1u) << given_up;
  EXPECT_EQ(given_up["findings"][0]["path"], "sandbox/refused.test.ts");
  EXPECT_EQ(given_up["findings"][0]["line"], 5);
  EXPECT_THAT(given_up["findings"][0]["message"].get<std::string>(),
      AllOf(HasSubstr("refused; "), HasSubstr("Expected: 5"), HasSubstr("Received: 4")));
  EXPECT_THAT(given_up["feedback"].get<std::string>(), HasSubstr("sandbox/refused.test.ts:5: "));
  EXPECT_TRUE(first["findings_by_rule"].empty()) << "no rule found it";
  // What an earlier night accepted can still be taken.
  const auto took = night.guard({"nightly", "review", "take", "unseen"});
  EXPECT_EQ(took.exit_status, 0) << took.err;
  EXPECT_TRUE(fs::exists(night.repository().path() / "sandbox" / "unseen.test.ts"));
  // Another prompt is another task; a retry without a word runs, too.
  auto changed = tasks;
  changed[1] = {"dropped", "chatty"};
  night.plan(changed);
  ASSERT_EQ(night.guard({"nightly", "retry", "refused"}).exit_status, 0);
  EXPECT_EQ(night.run().exit_status, 1);
  const auto third = night.outcomes();
  EXPECT_EQ(third.at("dropped"), "accepted");
  EXPECT_EQ(third.at("refused"), "refused:tests_failed");
  EXPECT_EQ(third.at("unseen"), "skipped:taken");
  EXPECT_EQ(third.at("back"), "skipped:to_review");
  const auto listed = night.guard({"nightly", "list", "--format", "json"}).document();
  EXPECT_EQ(listed["tasks"].size(), 6u);
  EXPECT_EQ(night.guard({"nightly", "drop", "nobody"}).exit_status, 2);
  EXPECT_THAT(night.guard({"nightly", "list"}).out, HasSubstr("refused after all its attempts"));
}

// What a generator is told before it writes: one that heeds the brief is accepted at once where one that does not is
// refused.
TEST(Nightly, TheBriefNamesWhatGeneratorsAreRefusedFor) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  constexpr const char* kHabits[] = {"socket", "environment", "metadata", "package_manager", "process", "removal",
      "manifest", "elsewhere", "key", "assertion", "caught", "skip"};
  std::vector<NightTask> tasks;
  std::map<std::string, std::string> expected;
  for (const std::string habit : kHabits) {
    tasks.push_back({"heeds-" + habit, "heeds\n" + habit, "attempts = 1\n"});
    tasks.push_back({"ignores-" + habit, "ignores\n" + habit, "attempts = 1\n"});
    expected["heeds-" + habit] = "accepted";
    expected["ignores-" + habit] = "refused";
  }
  night.plan(tasks, "jobs = 2\n[budget]\nfailures_in_a_row = 100\n");
  EXPECT_EQ(night.run().exit_status, 1);
  for (const auto& [task, outcome] : night.outcomes())
    EXPECT_EQ(outcome.substr(0, outcome.find(':')), expected.at(task)) << task << " " << outcome;
}

// Twelve tasks over three nights, with a person's decisions in between and each night killed again and again: nothing
// that was decided runs again, and nothing is lost.
TEST(Nightly, ThreeNightsKeepTheirDecisionsThroughKills) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  std::vector<NightTask> tasks = {{"taken", "slow"}, {"dropped", "slow"}, {"back", "slow"}, {"unseen", "slow"},
      {"later", "slow"}, {"good", "good"}, {"repairs", "repairs"}, {"commits", "commits"},
      {"fails", "fails", "attempts = 1\n"}, {"escapes", "escapes", "attempts = 1\n"},
      {"broken", "fails_itself", "attempts = 1\n"}, {"follows", "slow", "after = [\"taken\"]\n"}};
  int killed = 0;
  // A slow task takes longer than any of these lives, so the night cannot end before its last start.
  const auto one_night = [&] {
    night.plan(tasks, "jobs = 2\n[budget]\nfailures_in_a_row = 100\n");
    const std::vector<std::string> arguments = {"nightly", "run", "--resume", night.plan_file(), "--project",
        night.repository().path().string(), "--state", night.state().string()};
    for (int round = 0; round < 17; ++round) {
      const pid_t loop = start_guard(arguments, night.environment());
      std::this_thread::sleep_for(std::chrono::milliseconds(15 + (round * 67) % 230));
      ::kill(loop, SIGKILL);
      int status = 0;
      ::waitpid(loop, &status, 0);
      killed += WIFSIGNALED(status) ? 1 : 0;
    }
    const auto last = night.guard({"nightly", "run", "--resume", night.plan_file()});
    EXPECT_EQ(last.exit_status, 1) << last.err;
  };
  const auto decide = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "nightly");
    const auto decided = night.guard(words);
    EXPECT_EQ(decided.exit_status, 0) << decided.err;
  };

  one_night();
  const std::map<std::string, std::string> first = {{"taken", "accepted"}, {"dropped", "accepted"},
      {"back", "accepted"}, {"unseen", "accepted"}, {"later", "accepted"}, {"good", "accepted"},
      {"repairs", "accepted"}, {"commits", "accepted"}, {"fails", "refused:tests_failed"},
      {"escapes", "refused:findings"}, {"broken", "failed:generator_failed"}, {"follows", "accepted"}};
  EXPECT_EQ(night.outcomes(), first);
  decide({"review", "take", "taken"});
  decide({"drop", "dropped"});
  decide({"retry", "back", "--note", "use smaller numbers"});
  decide({"review", "take", "good"});

  tasks[3].behaviour = "slow\nTest -0 as well.";  // another prompt is another task
  one_night();
  const std::map<std::string, std::string> second = {{"taken", "skipped:taken"}, {"dropped", "skipped:dropped"},
      {"back", "accepted"}, {"unseen", "accepted"}, {"later", "skipped:to_review"}, {"good", "skipped:taken"},
      {"repairs", "skipped:to_review"}, {"commits", "skipped:to_review"}, {"fails", "skipped:given_up"},
      {"escapes", "skipped:given_up"}, {"broken", "failed:generator_failed"}, {"follows", "skipped:to_review"}};
  EXPECT_EQ(night.outcomes(), second);
  EXPECT_THAT(night.committed(), ::testing::UnorderedElementsAre("back", "unseen"));
  decide({"review", "take", "back"});
  decide({"drop", "unseen"});
  decide({"retry", "fails"});
  decide({"retry", "later", "--note", "and larger ones"});

  one_night();
  std::map<std::string, std::string> third = second;
  third["back"] = "skipped:taken";
  third["unseen"] = "skipped:dropped";
  third["fails"] = "refused:tests_failed";
  third["later"] = "accepted";
  EXPECT_EQ(night.outcomes(), third);
  EXPECT_THAT(night.committed(), ElementsAre("later"));
  // What nobody has looked at for three nights is still there to be taken.
  decide({"review", "take", "repairs", "commits"});
  EXPECT_THAT(night.leftovers(), IsEmpty());
  const auto journal = nightly::Journal::open(night.state() / "journal.sqlite", nightly::Journal::Access::read);
  ASSERT_TRUE(journal) << journal.error().to_string();
  EXPECT_EQ(journal->check().value_or("(unreadable)"), "");
  EXPECT_GE(killed, 50);
}

// A task that comes after another is made on top of it, also where two work side by side, and is not made where that
// one came to nothing.
TEST(Nightly, ATaskWaitsForThoseItComesAfter) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  const std::vector<NightTask> tasks = {{"third", "good", "after = [\"second\"]\n"},
      {"second", "follows", "after = [\"first\"]\nattempts = 1\n"}, {"first", "slow"},
      {"vain", "good", "after = [\"bad\", \"first\"]\n"}, {"vainer", "good", "after = [\"vain\"]\n"},
      {"bad", "fails", "attempts = 1\n"}};
  night.plan(tasks, "jobs = 2");
  const auto first = night.run();
  EXPECT_EQ(first.exit_status, 1) << first.err;
  EXPECT_THAT(night.committed(), ElementsAre("first", "second", "third"));
  EXPECT_EQ(night.outcomes().at("vain"), "skipped:after");
  EXPECT_EQ(night.outcomes().at("vainer"), "skipped:after");
  EXPECT_THAT(first.err, HasSubstr("comes after bad, which is refused"));
  // What was taken is there for those that come after; what nobody has reviewed is not.
  ASSERT_EQ(night.guard({"nightly", "review", "take", "first"}).exit_status, 0);
  auto changed = tasks;
  changed[0] = {"third", "follows", "after = [\"first\"]\n"};
  changed.push_back({"fourth", "good", "after = [\"second\"]\n"});
  night.plan(changed);
  EXPECT_EQ(night.run().exit_status, 0);
  EXPECT_EQ(night.outcomes().at("third"), "accepted");
  EXPECT_EQ(night.outcomes().at("fourth"), "skipped:after");
}

TEST(Nightly, AnOrderOfTasksHasToBePossible) {
  const Repository repository;
  repository.write("plan.toml",
      "generator = [\"true\"]\n[[task]]\nid = \"a\"\nprompt = \"Write.\"\nafter = [\"b\"]\n[[task]]\nid = "
      "\"b\"\nprompt = \"Write.\"\nafter = [\"a\", \"nobody\"]\n"
      "[[task]]\nid = \"c\"\nprompt = \"Write.\"\nafter = [\"c\"]\n");
  const auto shown = repository.guard({"nightly", "plan", "plan.toml"});
  EXPECT_EQ(shown.exit_status, 2);
  EXPECT_THAT(shown.err,
      AllOf(HasSubstr("\"nobody\", which is the id of no task"), HasSubstr("of \"a\" leads in a circle"),
          HasSubstr("of \"c\" leads in a circle")));
}

TEST(Nightly, AddPutsATaskIntoThePlanAndLeavesTheRestAlone) {
  const Repository repository;
  const std::string before = "# ours\ngenerator = [\"true\"]\n\n[[task]]\nid = \"one\"\nprompt = \"Write.\"";
  repository.write("nightly.toml", before);
  repository.must("chmod 640 nightly.toml");
  const auto added = repository.guard({"nightly", "add", "Test that parse() refuses \"\"", "--after", "one"});
  ASSERT_EQ(added.exit_status, 0) << added.err;
  EXPECT_THAT(added.out, AllOf(HasSubstr("test-that-parse-refuses"), HasSubstr("2 tasks")));
  EXPECT_TRUE(repository.read("nightly.toml").starts_with(before));
  EXPECT_EQ(repository.shell("stat -c %a nightly.toml").out, "640\n");
  // The same again has an id of its own; several lines, backslashes and quotes come back as they were.
  repository.write("prompt", "Test that parse refuses: a \\ and \"\"\"\n\tand a tab\n");
  const auto second =
      repository.shell(std::string(GUARD_PROGRAM) + " nightly add - --task-kind any --format json < prompt");
  ASSERT_EQ(second.exit_status, 0) << second.err;
  EXPECT_EQ(second.document()["id"], "test-that-parse-refuses-a");
  EXPECT_EQ(repository.guard({"nightly", "add", "Test that parse() refuses", "--format", "json"}).document()["id"],
      "test-that-parse-refuses-2");
  const auto plan = repository.guard({"nightly", "plan", "nightly.toml"});
  EXPECT_EQ(plan.exit_status, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("4 tasks"));
  // What would not be a plan is not written.
  const std::string good = repository.read("nightly.toml");
  EXPECT_EQ(repository.guard({"nightly", "add", "More", "--after", "nobody"}).exit_status, 2);
  EXPECT_EQ(repository.guard({"nightly", "add", "More", "--id", "one"}).exit_status, 2);
  EXPECT_EQ(
      repository.guard({"nightly", "add", "Write regression tests for the security rules of ALWAYS_BLOCK"}).exit_status,
      2);
  EXPECT_EQ(repository.guard({"nightly", "add"}).exit_status, 64);
  EXPECT_EQ(repository.guard({"nightly", "add", "x", "--plan", "none.toml"}).exit_status, 2);
  EXPECT_EQ(repository.read("nightly.toml"), good);
}

TEST(Nightly, AUsedUpBudgetDoesNotHoldTheNextNight) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  night.plan({{"a", "good"}, {"b", "good"}}, "[budget]\nattempts = 1\n");
  EXPECT_EQ(night.run().exit_status, 2);
  const std::string first = night.branch();
  EXPECT_EQ(night.guard({"nightly", "resume"}).exit_status, 0);
  EXPECT_THAT(night.committed(), ElementsAre("a", "b"));
  night.guard({"nightly", "run", "--resume", night.plan_file()});
  EXPECT_NE(night.branch(), first);
}

TEST(Nightly, TakesNothingTwiceAndNothingOverAPersonsOwnWork) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n");
  night.plan({{"a", "good"}, {"b", "good"}});
  EXPECT_EQ(night.run().exit_status, 0);
  const Repository& repository = night.repository();
  EXPECT_EQ(night.guard({"nightly", "review", "take", "a"}).exit_status, 0);
  const std::string head = repository.head();
  EXPECT_EQ(night.guard({"nightly", "review", "take", "a"}).exit_status, 0);
  EXPECT_EQ(repository.head(), head);
  // A file that git does not know of.
  repository.must("mkdir -p .git/info; echo sandbox/b.test.ts > .git/info/exclude; echo mine > sandbox/b.test.ts");
  const auto over = night.guard({"nightly", "review", "take", "b"});
  EXPECT_EQ(over.exit_status, 2);
  EXPECT_EQ(repository.read("sandbox/b.test.ts"), "mine\n");
  repository.must("rm sandbox/b.test.ts; git rev-parse HEAD > .git/CHERRY_PICK_HEAD");
  const auto midway = night.guard({"nightly", "review", "take", "b"});
  EXPECT_EQ(midway.exit_status, 2);
  EXPECT_THAT(midway.err, HasSubstr("in the middle"));
  EXPECT_TRUE(fs::exists(repository.path() / ".git" / "CHERRY_PICK_HEAD"));
  EXPECT_EQ(repository.head(), head);
}

// The configuration at the base decides; the person's own work tree, and what a task writes, do not.
TEST(Nightly, TakesItsConfigurationFromTheBase) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const NightRepository night("namespace", "[nightly]\nworth = false\n[policy]\nmax_changed_files_per_task = 1\n");
  night.repository().write(
      "guard.toml", "backend = \"namespace\"\n[nightly]\nworth = false\n[policy]\nmax_changed_files_per_task = 100\n");
  night.plan({{"many", "too_many"}});
  EXPECT_EQ(night.run().exit_status, 1);
  EXPECT_EQ(night.outcomes()["many"], "refused:findings");
}

}  // namespace
}  // namespace guard::testing
