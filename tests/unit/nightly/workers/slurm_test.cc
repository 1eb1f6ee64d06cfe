// Executors on programs that fail as Slurm's do: a real Slurm is in tests/cli/nightly/slurm_test.cc.
#include "nightly/workers/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include "common/file_io.h"
#include "common/text/text.h"
#include "nightly/workers/task_folder.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// sbatch, squeue and scancel note how they were called in one file.
struct Fakes {
  TempDir root = *TempDir::create();
  std::vector<std::string> warnings;
  CancelToken stop;

  Fakes() {
    fs::create_directory(root.path() / "bin");
    program("sbatch", "echo 17");
    program("squeue", ":");
    program("scancel", ":");
  }
  void program(const std::string& name, const std::string& script) const {
    const fs::path file = root.path() / "bin" / name;
    const std::string log = (root.path() / "calls").native();
    EXPECT_TRUE(write_file_atomically(
        file, "#!/bin/sh\necho " + name + " \"$@\" >>" + log + "\ncd " + root.path().native() + "\n" + script + "\n"));
    ::chmod(file.c_str(), 0755);
  }
  std::vector<std::string> calls(std::string_view name) const {
    std::vector<std::string> found;
    const std::string text = read_file(root.path() / "calls", 1u << 20).value_or("");
    for (const auto line : pieces_of(text))
      if (line.starts_with(name)) found.emplace_back(line);
    return found;
  }
  void wait_for(const std::function<bool()>& what) const {
    for (int i = 0; i < 3'000 && !what(); ++i) std::this_thread::sleep_for(milliseconds(10));
    EXPECT_TRUE(what());
  }
  ExecutorPlan plan() const {
    ExecutorPlan plan;
    plan.kind = ExecutorKind::slurm;
    plan.pass = {"PATH"};
    return plan;
  }
  std::vector<std::string> jobs;
  NightPlace place() {
    return {"n", root.path(), "/guard", {{"PATH", (root.path() / "bin").native() + ":/usr/bin:/bin"}},
        [this](const std::string& sentence) { warnings.push_back(sentence); }, jobs};
  }
  std::unique_ptr<Executor> executor(milliseconds shown = milliseconds(100)) {
    return make_slurm_executor(plan(), place(), shown);
  }
  WorkOrder order(const std::string& name, const std::string& job = "") const {
    const fs::path folder = root.path() / name;
    fs::create_directory(folder);
    return {folder, job, [](const std::string&) { return ok(); }, {}, std::chrono::hours(1)};
  }
  // That workers can take.
  WorkOrder task(const std::string& name) const {
    WorkOrder made = order(name);
    EXPECT_TRUE(write_file_atomically(made.folder / "task.json", "{}", 0600));
    ::chmod(made.folder.c_str(), 0700);
    return made;
  }
};

TEST(SlurmExecutor, GivesAgainWhatSbatchRefused) {
  Fakes fakes;
  fakes.program(
      "sbatch", "test -e tried || { touch tried; echo 'error: try later' >&2; exit 1; }; mkdir a/result; echo 17");
  {
    const auto executor = fakes.executor();
    const auto end = executor->work(fakes.order("a"), fakes.stop);
    ASSERT_TRUE(end) << end.error().message();
    EXPECT_EQ(end->kind, WorkEnd::Kind::result);
  }
  EXPECT_EQ(fakes.calls("sbatch").size(), 2U);
  EXPECT_THAT(fakes.warnings, ElementsAre(HasSubstr("error: try later")));
}

TEST(SlurmExecutor, GivesWhileMoreComesWithoutEnd) {
  Fakes fakes;
  {
    const auto executor = fakes.executor(std::chrono::hours(1));
    std::vector<std::thread> attempts;
    for (int i = 0; i < 100 && fakes.calls("sbatch").empty(); ++i) {
      attempts.emplace_back([&, order = fakes.order(std::to_string(i))] { (void)executor->work(order, fakes.stop); });
      std::this_thread::sleep_for(milliseconds(50));
    }
    EXPECT_FALSE(fakes.calls("sbatch").empty());
    fakes.stop.cancel();
    for (auto& attempt : attempts) attempt.join();
  }
}

TEST(SlurmExecutor, SaysWhatSbatchAnsweredInsteadOfAJob) {
  Fakes fakes;
  fakes.program("sbatch", "test -e tried && mkdir a/result; touch tried; echo Welcome");
  EXPECT_TRUE(fakes.executor()->work(fakes.order("a"), fakes.stop));
  EXPECT_THAT(fakes.warnings, ElementsAre(HasSubstr("sbatch answered Welcome")));
}

// Nobody waits for a controller that does not answer, and whatever sbatch did is undone at once.
TEST(SlurmExecutor, EndsWhileSbatchHangs) {
  Fakes fakes;
  fakes.program("sbatch", "echo $$ >pid; exec sleep 600");
  auto executor = fakes.executor();
  std::vector<std::thread> attempts;
  for (const char* name : {"a", "b", "c"}) {
    attempts.emplace_back([&, order = fakes.order(name)] { EXPECT_FALSE(executor->work(order, fakes.stop)); });
  }
  fakes.wait_for([&] { return fs::exists(fakes.root.path() / "pid"); });
  fakes.stop.cancel();
  for (auto& attempt : attempts) attempt.join();
  EXPECT_TRUE(fakes.calls("scancel").empty()) << "an attempt waited for Slurm";
  std::atomic<bool> ended = false;
  std::thread end([&] {
    executor.reset();
    ended = true;
  });
  fakes.wait_for([&] { return ended.load(); });  // well before sbatch's own limit
  end.join();
  EXPECT_THAT(fakes.calls("scancel"), ElementsAre(AllOf(HasSubstr("--name=guard-n"), HasSubstr("--user="))));
  const std::string pid = read_file(fakes.root.path() / "pid", 64).value_or("");
  EXPECT_FALSE(fs::exists("/proc/" + pid.substr(0, pid.find('\n')))) << "sbatch is left";
}

TEST(SlurmExecutor, SaysWhatItCouldNotCancel) {
  Fakes fakes;
  fakes.program("scancel", "echo 'error: no controller' >&2; exit 1");
  fakes.program("sbatch", "mkdir a/result; echo 17");
  EXPECT_TRUE(fakes.executor()->work(fakes.order("a"), fakes.stop));
  EXPECT_THAT(fakes.warnings, ElementsAre(HasSubstr("jobs named guard-n may be left")));
}

// Of a loop that was killed before it had written them down, or of an sbatch that submitted and failed all the same.
TEST(SlurmExecutor, CancelsJobsOfItsNightThatNobodyKnowsOf) {
  Fakes fakes;
  fakes.program("squeue",
      "echo '96_0|RUNNING'; echo '98_0|RUNNING'; test -e cancelled || echo '99_0|RUNNING'; echo '97_1|COMPLETED'");
  fakes.program("scancel", "touch cancelled");
  fakes.program("sbatch", "test -e cancelled && mkdir a/result b/result; echo 17");
  fakes.jobs = {"96_0", "98_0"};  // the attempt of the first comes only later
  {
    const auto executor = fakes.executor();
    std::thread resumed([&, order = fakes.order("b", "98_0")] { EXPECT_TRUE(executor->work(order, fakes.stop)); });
    EXPECT_TRUE(executor->work(fakes.order("a"), fakes.stop));
    resumed.join();
    EXPECT_THAT(fakes.calls("scancel"), ElementsAre("scancel 99"));
  }
  EXPECT_EQ(fakes.calls("sbatch").size(), 1U);
  EXPECT_THAT(fakes.calls("squeue").at(0), HasSubstr("--me"));
}

// A network file system shows a result after its job is gone.
TEST(SlurmExecutor, WaitsForAResultThatIsShownLate) {
  Fakes fakes;
  {
    const auto executor = fakes.executor(std::chrono::minutes(10));
    std::thread late([&] {
      fakes.wait_for([&] { return fakes.calls("sbatch").size() == 1 && fakes.calls("squeue").size() >= 4; });
      fs::create_directory(fakes.root.path() / "a/result");
    });
    const auto end = executor->work(fakes.order("a"), fakes.stop);
    late.join();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->kind, WorkEnd::Kind::result);
  }
  EXPECT_EQ(fakes.calls("sbatch").size(), 1U);
  EXPECT_GE(shown_within("/proc"), std::chrono::seconds(90));
}

TEST(SlurmExecutor, GivesUpAfterTwoElements) {
  Fakes fakes;
  const WorkOrder order = fakes.task("a");
  const auto end = fakes.executor()->work(order, fakes.stop);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->kind, WorkEnd::Kind::lost);
  EXPECT_EQ(fakes.calls("sbatch").size(), 2U);
  EXPECT_FALSE(fs::exists(order.folder / "task.json")) << "a worker could still take it";
}

// Of a node that the controller gave up: what Slurm says of an element is no proof that nobody works.
TEST(SlurmExecutor, LosesNothingThatSomebodyWorksOn) {
  Fakes fakes;
  const WorkOrder order = fakes.task("a");
  auto lock = lock_task(order.folder);
  ASSERT_TRUE(lock && *lock);
  std::thread worker([&] {
    fakes.wait_for([&] { return fakes.calls("sbatch").size() == 2; });
    const std::size_t asked = fakes.calls("squeue").size();
    fakes.wait_for([&] { return fakes.calls("squeue").size() >= asked + 4; });
    fs::create_directory(order.folder / "result");
    (*lock)->reset();
  });
  const auto end = fakes.executor()->work(order, fakes.stop);
  worker.join();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->kind, WorkEnd::Kind::result);
}

// squeue(1), JOB STATE CODES. With --requeue, and for whoever holds it, the others may still make something.
TEST(SlurmExecutor, KnowsWhichStatesAreOver) {
  for (const char* over : {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
           "PREEMPTED", "REVOKED", "TIMEOUT"})
    EXPECT_FALSE(slurm_works(over)) << over;
  for (const char* works : {"CONFIGURING", "COMPLETING", "PENDING", "RUNNING", "RESV_DEL_HOLD", "REQUEUE_FED",
           "REQUEUE_HOLD", "REQUEUED", "RESIZING", "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT", "STOPPED", "SUSPENDED"})
    EXPECT_TRUE(slurm_works(works)) << works;
}

// Slurm answers, and does not want it: a partition that is none is none tomorrow, too.
TEST(SlurmExecutor, EndsSoonWhatSbatchRefusesEachTime) {
  Fakes fakes;
  fakes.program("sbatch", "echo 'sbatch: error: invalid partition specified: nope' >&2; exit 1");
  NightPlace place = fakes.place();
  place.refused_for = std::chrono::seconds(2);
  const auto executor = make_slurm_executor(fakes.plan(), std::move(place), milliseconds(100));
  WorkOrder order = fakes.order("a");
  order.time_left = std::chrono::minutes(2);
  for (int i = 0; i < 2; ++i) {
    const auto end = executor->work(order, fakes.stop);
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code(), ErrorCode::environment_unavailable);
    EXPECT_THAT(end.error().message(), HasSubstr("invalid partition specified: nope"));
    EXPECT_THAT(end.error().hint(), HasSubstr("[executor]"));
  }
  EXPECT_GT(fakes.calls("sbatch").size(), 1U);
}

// Whoever is told of something may take its time, or give further work.
TEST(SlurmExecutor, HoldsNobodyUpWhileItTells) {
  Fakes fakes;
  fakes.program("sbatch", "test -e tried || { touch tried; exit 1; }; echo 17");
  WorkOrder order = fakes.order("a");
  const WorkOrder done = fakes.order("done");
  fs::create_directory(done.folder / "result");
  NightPlace place = fakes.place();
  std::unique_ptr<Executor> executor;
  std::vector<std::thread> others;
  std::atomic<int> told = 0;
  const auto work_beside = [&] {
    const auto ended = std::make_shared<std::atomic<bool>>(false);  // outlives a failure
    others.emplace_back([&, ended] {
      EXPECT_TRUE(executor->work(done, fakes.stop));
      *ended = true;
    });
    fakes.wait_for([&] { return ended->load(); });
    ++told;
  };
  place.warn = [&](const std::string&) { work_beside(); };
  order.submitted = [&](const std::string&) {
    work_beside();
    fs::create_directory(order.folder / "result");
    return ok();
  };
  executor = make_slurm_executor(fakes.plan(), place, milliseconds(100));
  EXPECT_TRUE(executor->work(order, fakes.stop));
  executor.reset();
  for (auto& other : others) other.join();
  EXPECT_EQ(told, 2);
}

TEST(SlurmExecutor, ForgetsWorkThatThrew) {
  Fakes fakes;
  fakes.program("sbatch", "mkdir b/result; echo 17");
  const auto executor = fakes.executor();
  {
    WorkOrder order = fakes.task("a");
    order.is_given_up = []() -> bool { throw std::runtime_error("no memory"); };
    EXPECT_THROW((void)executor->work(order, fakes.stop), std::runtime_error);
  }
  EXPECT_TRUE(executor->work(fakes.order("b"), fakes.stop));
  EXPECT_THAT(fakes.calls("sbatch"), ElementsAre(HasSubstr("--array=0-0 ")));
}

TEST(Executors, NameTheProgramThatIsNotInstalled) {
  Fakes fakes;
  ExecutorPlan plan = fakes.plan();
  NightPlace place = fakes.place();
  place.environment["PATH"] = (fakes.root.path() / "bin").native();
  EXPECT_TRUE(make_executor(plan, place));
  plan.signers = {"ssh-ed25519 AAAA"};
  const auto no_keygen = make_executor(plan, place);
  ASSERT_FALSE(no_keygen);
  EXPECT_EQ(no_keygen.error().code(), ErrorCode::config_invalid);
  EXPECT_THAT(no_keygen.error().message(), HasSubstr("ssh-keygen"));
  fs::remove(fakes.root.path() / "bin/scancel");
  plan.signers.clear();
  EXPECT_THAT(make_executor(plan, place).error().message(), HasSubstr("scancel"));
}

TEST(Executors, GiveUpOnlyWhatNobodyWorksOn) {
  Fakes fakes;
  ExecutorPlan plan;
  plan.kind = ExecutorKind::folder;
  const auto executor = *make_executor(plan, fakes.place());
  WorkOrder order = fakes.task("a");
  std::atomic<int> asked = 0;
  order.is_given_up = [&] { return ++asked > 0; };
  auto lock = lock_task(order.folder);
  ASSERT_TRUE(lock && *lock);
  std::thread worker([&] {
    fakes.wait_for([&] { return asked >= 2; });
    EXPECT_TRUE(fs::exists(order.folder / "task.json"));
    (*lock)->reset();
  });
  const auto end = executor->work(order, fakes.stop);
  worker.join();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code(), ErrorCode::cancelled);
  EXPECT_FALSE(fs::exists(order.folder / "task.json")) << "a worker could still take it";
  // Nor is a folder waited for that is gone.
  const WorkOrder gone{fakes.root.path() / "gone", {}, {}, [] { return true; }, std::chrono::hours(1)};
  EXPECT_EQ(executor->work(gone, fakes.stop).error().code(), ErrorCode::cancelled);
}

}  // namespace
}  // namespace guard::nightly
