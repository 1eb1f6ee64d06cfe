#include "nightly/loop/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <thread>

#include "common/file_io.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

// NUL, invalid UTF-8, quotes, line ends, terminal escapes.
std::string hostile(std::string_view name) {
  return std::string(name) + std::string("\0'\"; DROP TABLE night;--\xff\xfe\r\n\x1b[31m</b>", 41);
}

Night night_of(const std::string& id, std::int64_t started_ms) {
  Night night;
  night.id = id;
  night.started_ms = started_ms;
  night.plan_text = "plan of " + id;
  return night;
}

Task task_of(const std::string& night, const std::string& id, std::uint64_t position = 0) {
  Task task;
  task.night = night;
  task.id = id;
  task.position = position;
  task.prompt = "write a test";
  return task;
}

Attempt attempt_of(const std::string& night, const std::string& task, std::uint64_t number) {
  Attempt attempt;
  attempt.night = night;
  attempt.task = task;
  attempt.number = number;
  return attempt;
}

Night full_night() {
  Night night;
  night.id = "2026-11-22T2200-1a2b";
  night.state = NightState::ended;
  night.reason = hostile("put_backs");
  night.why = hostile("why");
  night.started_ms = 1'795'000'000'000;
  night.ended_ms = -1;
  night.heartbeat_ms = std::numeric_limits<std::int64_t>::max();
  night.plan_name = hostile("plan.toml");
  night.plan_text = std::string(1u << 20, 'p') + hostile("plan");
  night.base = hostile("base");
  night.branch = hostile("refs/heads/guard");
  night.rules_digest = hostile("digest");
  night.guard_version = hostile("0.1.0");
  night.requeued = kMost;
  return night;
}

Task full_task() {
  Task task;
  task.night = full_night().id;
  task.id = "add-negative";
  task.position = 3;
  task.kind = TaskKind::any;
  task.prompt = hostile("prompt") + std::string(1u << 20, '\xff');
  task.state = TaskState::refused;
  task.reason = hostile("findings");
  task.detail = hostile("detail");
  task.attempts = 7;
  task.requeued = kMost - 1;
  task.commit = hostile("commit");
  task.rollout = Rollout::host;
  task.review = Review::dropped;
  task.note = hostile("note");
  return task;
}

Attempt full_attempt() {
  Attempt attempt;
  attempt.night = full_night().id;
  attempt.task = full_task().id;
  attempt.number = 4;
  attempt.step = AttemptStep::weighing;
  attempt.outcome = AttemptOutcome::requeued;
  attempt.reason = hostile("reason");
  attempt.detail = hostile("detail");
  attempt.started_ms = 11;
  attempt.ended_ms = 22;
  attempt.start = hostile("start");
  attempt.tip = hostile("tip");
  attempt.commit = hostile("commit");
  attempt.backend = hostile("docker");
  attempt.evidence = hostile("evidence/a.json");
  attempt.evidence_sha256 = hostile("sha");
  attempt.output = hostile("output");
  attempt.kept = hostile("kept");
  attempt.feedback = hostile("feedback");
  attempt.diff = std::string(1u << 20, '+') + hostile("diff");
  attempt.generator = hostile("exit 0");
  attempt.files = {hostile("a"), "", "sandbox/ü.test.ts", hostile("a")};
  attempt.findings = {
      {hostile("always.x"), hostile("always"), hostile("p"), 4'294'967'295u, hostile("m"), hostile("f"), hostile("e")},
      {}, {"r", "t", "p", 1, "m", "f", "e"}};
  attempt.tests_passed = 1;
  attempt.tests_failed = 2;
  attempt.tests_skipped = 3;
  attempt.mutants = 4;
  attempt.mutants_killed = 5;
  attempt.lines_covered = 6;
  attempt.lines_newly_covered = 7;
  attempt.secrets_masked = 8;
  attempt.generator_said = hostile("quota exceeded");
  attempt.flaky = {hostile("z > adds"), "a"};
  attempt.timings_ms = {{"run", 2}, {hostile("clone"), -1}, {"run", 3}};
  return attempt;
}

void expect_same(const Night& a, const Night& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.why, b.why);
  EXPECT_EQ(a.started_ms, b.started_ms);
  EXPECT_EQ(a.ended_ms, b.ended_ms);
  EXPECT_EQ(a.heartbeat_ms, b.heartbeat_ms);
  EXPECT_EQ(a.plan_name, b.plan_name);
  EXPECT_EQ(a.plan_text, b.plan_text);
  EXPECT_EQ(a.base, b.base);
  EXPECT_EQ(a.branch, b.branch);
  EXPECT_EQ(a.rules_digest, b.rules_digest);
  EXPECT_EQ(a.guard_version, b.guard_version);
  EXPECT_EQ(a.requeued, b.requeued);
}

void expect_same(const Task& a, const Task& b) {
  EXPECT_EQ(a.night, b.night);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.position, b.position);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.prompt, b.prompt);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.detail, b.detail);
  EXPECT_EQ(a.attempts, b.attempts);
  EXPECT_EQ(a.requeued, b.requeued);
  EXPECT_EQ(a.commit, b.commit);
  EXPECT_EQ(a.rollout, b.rollout);
  EXPECT_EQ(a.review, b.review);
  EXPECT_EQ(a.note, b.note);
}

void expect_same(const Attempt& a, const Attempt& b) {
  EXPECT_EQ(a.night, b.night);
  EXPECT_EQ(a.task, b.task);
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.outcome, b.outcome);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.detail, b.detail);
  EXPECT_EQ(a.started_ms, b.started_ms);
  EXPECT_EQ(a.ended_ms, b.ended_ms);
  EXPECT_EQ(a.start, b.start);
  EXPECT_EQ(a.tip, b.tip);
  EXPECT_EQ(a.commit, b.commit);
  EXPECT_EQ(a.backend, b.backend);
  EXPECT_EQ(a.evidence, b.evidence);
  EXPECT_EQ(a.evidence_sha256, b.evidence_sha256);
  EXPECT_EQ(a.output, b.output);
  EXPECT_EQ(a.kept, b.kept);
  EXPECT_EQ(a.feedback, b.feedback);
  EXPECT_EQ(a.diff, b.diff);
  EXPECT_EQ(a.generator, b.generator);
  EXPECT_EQ(a.generator_said, b.generator_said);
  EXPECT_EQ(a.secrets_masked, b.secrets_masked);
  EXPECT_EQ(a.files, b.files);
  ASSERT_EQ(a.findings.size(), b.findings.size());
  for (std::size_t i = 0; i < a.findings.size(); ++i) {
    EXPECT_EQ(a.findings[i].rule, b.findings[i].rule);
    EXPECT_EQ(a.findings[i].tier, b.findings[i].tier);
    EXPECT_EQ(a.findings[i].path, b.findings[i].path);
    EXPECT_EQ(a.findings[i].line, b.findings[i].line);
    EXPECT_EQ(a.findings[i].message, b.findings[i].message);
    EXPECT_EQ(a.findings[i].fix, b.findings[i].fix);
    EXPECT_EQ(a.findings[i].excerpt, b.findings[i].excerpt);
  }
  EXPECT_EQ(a.tests_passed, b.tests_passed);
  EXPECT_EQ(a.tests_failed, b.tests_failed);
  EXPECT_EQ(a.tests_skipped, b.tests_skipped);
  EXPECT_EQ(a.mutants, b.mutants);
  EXPECT_EQ(a.mutants_killed, b.mutants_killed);
  EXPECT_EQ(a.lines_covered, b.lines_covered);
  EXPECT_EQ(a.lines_newly_covered, b.lines_newly_covered);
  EXPECT_EQ(a.flaky, b.flaky);
  EXPECT_EQ(a.timings_ms, b.timings_ms);
}

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() : temp_(std::move(*TempDir::create())) {}

  fs::path file() const { return temp_.path() / "state" / "journal.db"; }
  Journal writer() const {
    auto opened = Journal::open(file(), Journal::Access::write);
    if (!opened) throw std::runtime_error(opened.error().to_string());
    return std::move(*opened);
  }
  Journal reader() const {
    auto opened = Journal::open(file(), Journal::Access::read);
    if (!opened) throw std::runtime_error(opened.error().to_string());
    return std::move(*opened);
  }
  // One night "n" with tasks "a" and "b", closed again.
  void make() const {
    Journal journal = writer();
    ASSERT_TRUE(journal.begin(night_of("n", 1), {task_of("n", "a", 0), task_of("n", "b", 1)}));
  }
  std::string bytes() const { return *read_file(file(), 64u << 20); }
  void write_bytes(std::string_view text) const { ASSERT_TRUE(write_file_atomically(file(), text, 0600)); }

  TempDir temp_;
};

AttemptFinding of_rule(std::string rule) {
  AttemptFinding finding;
  finding.rule = std::move(rule);
  return finding;
}

void expect_io_error(const Error& error, std::string_view words) {
  EXPECT_EQ(error.code(), ErrorCode::io_error) << error.to_string();
  EXPECT_THAT(error.to_string(), HasSubstr(words));
}

// In a process of its own: `work` answers its exit status.
pid_t in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  return child;
}
int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}
int exit_of(pid_t child) {
  const int status = status_of(child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

}  // namespace

TEST_F(JournalTest, GivesBackEveryFieldByteForByte) {
  {
    Journal journal = writer();
    ASSERT_TRUE(journal.begin(full_night(), {full_task()}));
    const Attempt attempt = full_attempt();
    ASSERT_TRUE(journal.save(nullptr, nullptr, &attempt));
  }
  const Journal journal = reader();
  const auto night = journal.night(full_night().id);
  ASSERT_TRUE(night && *night);
  expect_same(**night, full_night());
  const auto tasks = journal.tasks(full_night().id);
  ASSERT_TRUE(tasks);
  ASSERT_EQ(tasks->size(), 1u);
  expect_same(tasks->front(), full_task());
  for (const auto& attempts : {journal.attempts(full_night().id), journal.attempts(full_night().id, full_task().id)}) {
    ASSERT_TRUE(attempts);
    ASSERT_EQ(attempts->size(), 1u);
    expect_same(attempts->front(), full_attempt());
  }
  const auto nights = journal.nights(0);
  ASSERT_TRUE(nights);
  Night listed = full_night();
  listed.plan_text.clear();
  ASSERT_EQ(nights->size(), 1u);
  expect_same(nights->front(), listed);
  EXPECT_EQ(*journal.check(), "");
}

TEST_F(JournalTest, SavesWholeRowsOverOldOnes) {
  Journal journal = writer();
  Night night = night_of(full_night().id, 5);
  Task task = task_of(night.id, full_task().id);
  ASSERT_TRUE(journal.begin(night, {task, task_of(night.id, "other", 1)}));
  Attempt attempt = attempt_of(night.id, task.id, 4);
  ASSERT_TRUE(journal.save(nullptr, nullptr, &attempt));
  night = full_night();
  task = full_task();
  attempt = full_attempt();
  ASSERT_TRUE(journal.save(&night, &task, &attempt));
  attempt.findings.resize(1);
  attempt.files = {"one"};
  attempt.flaky = {};
  attempt.timings_ms = {};
  ASSERT_TRUE(journal.save(nullptr, nullptr, &attempt));

  expect_same(**journal.night(night.id), night);
  Task expected = full_task();
  expected.review = Review::none;  // save() leaves what a person said
  expected.note.clear();
  const auto tasks = journal.tasks(night.id);
  ASSERT_EQ(tasks->size(), 2u);
  EXPECT_EQ(tasks->front().id, "other");  // position 1 of the other, 3 of this one
  expect_same(tasks->back(), expected);
  const auto attempts = journal.attempts(night.id);
  ASSERT_EQ(attempts->size(), 1u);
  expect_same(attempts->front(), attempt);
}

TEST_F(JournalTest, KnowsEveryNameOfEveryEnum) {
  Journal journal = writer();
  Night night = night_of("n", 1);
  Task task = task_of("n", "a");
  ASSERT_TRUE(journal.begin(night, {task}));
  for (const auto state : {NightState::running, NightState::finished, NightState::ended, NightState::stopped}) {
    night.state = state;
    ASSERT_TRUE(journal.save(&night, nullptr, nullptr));
    EXPECT_EQ((*journal.night("n"))->state, state);
  }
  for (const auto state : {TaskState::waiting, TaskState::running, TaskState::accepted, TaskState::refused,
           TaskState::failed, TaskState::skipped}) {
    for (const auto kind : {TaskKind::test, TaskKind::any}) {
      for (const auto rollout : {Rollout::sandbox, Rollout::host, Rollout::none}) {
        task.state = state;
        task.kind = kind;
        task.rollout = rollout;
        ASSERT_TRUE(journal.save(nullptr, &task, nullptr));
        expect_same(journal.tasks("n")->front(), task);
      }
    }
  }
  for (const auto review : {Review::taken, Review::dropped, Review::sent_back, Review::none}) {
    ASSERT_TRUE(journal.review("n", "a", review, "note"));
    EXPECT_EQ(journal.tasks("n")->front().review, review);
  }
  Attempt attempt = attempt_of("n", "a", 1);
  for (const auto step : {AttemptStep::cloning, AttemptStep::generating, AttemptStep::reading, AttemptStep::gating,
           AttemptStep::testing, AttemptStep::weighing, AttemptStep::committing, AttemptStep::done}) {
    for (const auto outcome : {AttemptOutcome::none, AttemptOutcome::accepted, AttemptOutcome::refused,
             AttemptOutcome::failed, AttemptOutcome::requeued, AttemptOutcome::interrupted}) {
      attempt.step = step;
      attempt.outcome = outcome;
      ASSERT_TRUE(journal.save(nullptr, nullptr, &attempt));
      expect_same(journal.attempts("n")->front(), attempt);
    }
  }
}

TEST_F(JournalTest, SavingTouchesNeitherReviewNorStopRequest) {
  Journal journal = writer();
  Night night = night_of("n", 1);
  Task task = task_of("n", "a");
  ASSERT_TRUE(journal.begin(night, {task}));
  EXPECT_FALSE(*journal.stop_requested("n"));
  ASSERT_TRUE(writer().request_stop("n"));
  ASSERT_TRUE(writer().review("n", "a", Review::sent_back, "name the cases"));
  ASSERT_TRUE(journal.save(&night, &task, nullptr));
  EXPECT_TRUE(*journal.stop_requested("n"));
  EXPECT_EQ(journal.tasks("n")->front().review, Review::sent_back);
  EXPECT_EQ(journal.tasks("n")->front().note, "name the cases");
}

TEST_F(JournalTest, BeginsWithAllTasksOrNothing) {
  Journal journal = writer();
  EXPECT_FALSE(journal.begin(night_of("n", 1), {task_of("n", "a"), task_of("n", "a")}));
  EXPECT_FALSE(journal.begin(night_of("n", 1), {task_of("n", "a"), task_of("m", "b")}));
  EXPECT_THAT(*journal.nights(0), IsEmpty());
  EXPECT_TRUE(journal.begin(night_of("n", 1), {task_of("n", "a")}));
  expect_io_error(journal.begin(night_of("n", 1), {task_of("n", "b")}).error(), "night.id");
  EXPECT_EQ(journal.tasks("n")->size(), 1u);
}

TEST_F(JournalTest, SavesNothingOfWhatIsNotThere) {
  make();
  Journal journal = writer();
  const Night no_night = night_of("m", 1);
  const Task no_task = task_of("n", "c");
  const Attempt no_attempt = attempt_of("n", "c", 1);
  Night night = night_of("n", 99);
  expect_io_error(journal.save(&no_night, nullptr, nullptr).error(), "no night m");
  expect_io_error(journal.save(&night, &no_task, nullptr).error(), "no task c in night n");
  expect_io_error(journal.save(&night, nullptr, &no_attempt).error(), "FOREIGN KEY");
  expect_io_error(journal.review("n", "c", Review::taken, "").error(), "no task c");
  expect_io_error(journal.request_stop("m").error(), "no night m");
  expect_io_error(journal.stop_requested("m").error(), "no night m");
  EXPECT_EQ((*journal.night("n"))->started_ms, 1);  // the transaction went as a whole
  EXPECT_FALSE(*journal.night("m"));
  EXPECT_THAT(*journal.tasks("m"), IsEmpty());
  EXPECT_THAT(*journal.attempts("n", ""), IsEmpty());
}

TEST_F(JournalTest, IsForItsOwnerAlone) {
  make();
  Journal journal = writer();
  struct stat status {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(file().parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_TRUE(journal.request_stop("n"));
  ASSERT_EQ(::stat((file().native() + "-wal").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(JournalTest, SaysThatThereIsNone) {
  EXPECT_EQ(Journal::open(file(), Journal::Access::read).error().code(), ErrorCode::file_not_found);
  EXPECT_FALSE(fs::exists(file().parent_path()));
  fs::create_directories(file().parent_path());
  write_bytes("");  // a first start that was killed
  EXPECT_EQ(Journal::open(file(), Journal::Access::read).error().code(), ErrorCode::file_not_found);
  make();
  EXPECT_EQ(reader().nights(0)->size(), 1u);
}

TEST_F(JournalTest, NeverTouchesWhatIsNoJournal) {
  fs::create_directories(file().parent_path());
  const std::string note = "dear diary, " + std::string(4000, 'x');
  for (const auto access : {Journal::Access::read, Journal::Access::write}) {
    write_bytes(note);
    expect_io_error(Journal::open(file(), access).error(), "not a database");
    EXPECT_EQ(bytes(), note);
  }
  fs::remove(file());
  fs::create_directory(file());
  expect_io_error(Journal::open(file(), Journal::Access::write).error(), "is no file");
  fs::remove(file());
  fs::create_symlink("nowhere", file());
  EXPECT_FALSE(Journal::open(file(), Journal::Access::write));
  EXPECT_FALSE(fs::exists(file().parent_path() / "nowhere"));
}

// The places are those of SQLite's file format: the user's version at 60, the application at 68, four bytes each,
// big-endian.
TEST_F(JournalTest, NeverTouchesTheDatabaseOfAnotherProgramOrOfANewerGuard) {
  make();
  const std::string good = bytes();
  std::string newer = good;
  newer[63] = 2;
  std::string older = good;
  older[63] = 0;
  std::string other = good;
  other[71] = 0;
  const std::pair<std::string, std::string> cases[] = {
      {newer, "newer guard"}, {older, "never was"}, {other, "another program"}};
  for (const auto& [text, words] : cases) {
    for (const auto access : {Journal::Access::read, Journal::Access::write}) {
      write_bytes(text);
      expect_io_error(Journal::open(file(), access).error(), words);
      EXPECT_EQ(bytes(), text);
    }
  }
  write_bytes(good);
  EXPECT_EQ(reader().nights(0)->size(), 1u);
}

TEST_F(JournalTest, RefusesANameThatItDoesNotKnow) {
  make();
  std::string text = bytes();
  std::size_t places = 0;  // rows and indexes
  for (std::size_t at = 0; (at = text.find("waiting", at)) != std::string::npos; ++places)
    text.replace(at, 7, "allowed");
  ASSERT_GT(places, 0u);
  write_bytes(text);
  const auto tasks = reader().tasks("n");
  ASSERT_FALSE(tasks);
  expect_io_error(tasks.error(), "holds \"allowed\" as state, which this guard does not know");
}

// A file that an older guard made: its attempts lack the newest columns.
TEST_F(JournalTest, ReadsAnOlderFileAndCompletesItWhenItIsWrittenTo) {
  Attempt attempt = attempt_of("n", "a", 1);
  attempt.secrets_masked = 3;
  attempt.generator_said = "said";
  attempt.diff = "diff";
  {
    Journal journal = writer();
    ASSERT_TRUE(journal.begin(night_of("n", 1), {task_of("n", "a")}));
    ASSERT_TRUE(journal.save(nullptr, nullptr, &attempt));
  }
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw,
                "ALTER TABLE attempt DROP COLUMN secrets_masked; ALTER TABLE attempt DROP COLUMN generator_said",
                nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(raw);
  const auto old = reader().attempts("n");
  ASSERT_TRUE(old) << old.error().to_string();
  EXPECT_EQ(old->front().secrets_masked, 0u);
  EXPECT_EQ(old->front().generator_said, "");
  EXPECT_EQ(old->front().diff, "diff");
  Journal journal = writer();
  EXPECT_EQ(journal.attempts("n")->front().diff, "diff");
  ASSERT_TRUE(journal.save(nullptr, nullptr, &attempt));
  EXPECT_EQ(reader().attempts("n")->front().secrets_masked, 3u);
  EXPECT_EQ(reader().attempts("n")->front().generator_said, "said");
  EXPECT_EQ(*journal.check(), "");
}

TEST_F(JournalTest, SaysWhatIsBroken) {
  make();
  std::string text = bytes();
  ASSERT_GT(text.size(), 3 * 4096u);
  text.replace(4096, text.size() - 4096, text.size() - 4096, '\x5a');
  write_bytes(text);
  auto journal = Journal::open(file(), Journal::Access::read);
  if (journal) {
    EXPECT_FALSE(journal->tasks("n"));
    const auto check = journal->check();
    EXPECT_TRUE(!check || !check->empty());
  } else {
    EXPECT_EQ(journal.error().code(), ErrorCode::io_error);
  }
}

TEST_F(JournalTest, CanBeReadWhileAWriterIsAtWork) {
  make();
  Journal writing = writer();
  const Journal reading = reader();
  Attempt attempt = attempt_of("n", "a", 1);
  for (std::uint64_t number = 1; number <= 20; ++number) {
    attempt.number = number;
    ASSERT_TRUE(writing.save(nullptr, nullptr, &attempt));
    EXPECT_EQ(reading.attempts("n")->size(), number);
    EXPECT_EQ(reader().attempts("n")->size(), number);
  }
}

TEST_F(JournalTest, WritesNothingWhenOpenedForReading) {
  make();
  Journal journal = reader();
  const Night night = night_of("n", 9);
  EXPECT_EQ(journal.save(&night, nullptr, nullptr).error().code(), ErrorCode::io_error);
  EXPECT_EQ(journal.request_stop("n").error().code(), ErrorCode::io_error);
  EXPECT_EQ(journal.forget(1'000).error().code(), ErrorCode::io_error);
  EXPECT_EQ((*journal.night("n"))->started_ms, 1);
}

// A writer and readers in processes of their own: each reading sees whole transactions.
TEST_F(JournalTest, ShowsReadersOfOtherProcessesWholeStepsOnly) {
  make();
  const pid_t writing = in_child([&] {
    Journal journal = writer();
    Attempt attempt = attempt_of("n", "a", 1);
    Task task = task_of("n", "a");
    for (std::uint64_t step = 1; step <= 300; ++step) {
      attempt.tests_passed = step;
      task.attempts = step;
      attempt.files.assign(static_cast<std::size_t>(step % 5), std::to_string(step));
      if (!journal.save(nullptr, &task, &attempt)) return 1;
    }
    return 0;
  });
  const pid_t reading = in_child([&] {
    for (std::uint64_t last = 0; last < 300;) {
      const Journal journal = reader();
      const auto attempts = journal.attempts("n");
      if (!attempts) return 1;
      if (attempts->empty()) continue;
      const Attempt& attempt = attempts->front();
      if (attempt.tests_passed < last) return 2;
      last = attempt.tests_passed;
      if (attempt.files.size() != last % 5) return 3;
      for (const auto& file : attempt.files) {
        if (file != std::to_string(last)) return 4;
      }
      if (journal.tasks("n")->front().attempts < last) return 5;
    }
    return 0;
  });
  EXPECT_EQ(exit_of(writing), 0);
  EXPECT_EQ(exit_of(reading), 0);
}

TEST_F(JournalTest, ManyWritersWaitForEachOther) {
  make();
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    children.push_back(in_child([&] {
      Journal journal = writer();
      for (int i = 0; i < 25; ++i) {
        if (!journal.review("n", "a", Review::taken, "x") || !journal.request_stop("n")) return 1;
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(exit_of(child), 0);
}

TEST_F(JournalTest, TakesCallsOfSeveralThreads) {
  make();
  Journal journal = writer();
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t i = 0; i < 20; ++i) {
        const Attempt attempt = attempt_of("n", "a", thread * 100 + i);
        EXPECT_TRUE(journal.save(nullptr, nullptr, &attempt));
        EXPECT_TRUE(journal.attempts("n", "a"));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(journal.attempts("n")->size(), 80u);
}

namespace {

// All of it follows from its number: half a row would show.
Attempt numbered(std::uint64_t number) {
  Attempt attempt = attempt_of("n", "a", number);
  attempt.detail = std::to_string(number);
  attempt.diff = std::string(static_cast<std::size_t>(number % 7) * 3'000, 'd') + attempt.detail;
  attempt.files.assign(static_cast<std::size_t>(number % 5), attempt.detail);
  attempt.findings.assign(
      static_cast<std::size_t>(number % 4), AttemptFinding{attempt.detail, "always", "p", 1, "m", "f", "e"});
  attempt.timings_ms = {{"run", static_cast<std::int64_t>(number)}};
  return attempt;
}

}  // namespace

TEST_F(JournalTest, KeepsEveryStepThatWasAcknowledgedBeforeAKill) {
  make();
  std::mt19937 random(7);
  std::uint64_t known = 0;
  for (int round = 0; round < 30; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = in_child([&] {
      auto journal = Journal::open(file(), Journal::Access::write);
      if (!journal) return 1;
      for (std::uint64_t number = known + 1;; ++number) {
        const Attempt attempt = numbered(number);
        Task task = task_of("n", "a");
        task.attempts = number;
        if (!journal->save(nullptr, &task, &attempt)) return 2;
        if (::write(ends[1], &number, sizeof number) != sizeof number) return 3;
      }
    });
    ::close(ends[1]);
    std::uint64_t acknowledged = known;
    // Killed at any moment from the first step on, a step being some milliseconds.
    if (round % 3 != 0) (void)!::read(ends[0], &acknowledged, sizeof acknowledged);
    ::usleep(static_cast<useconds_t>(std::uniform_int_distribution<int>(0, 15'000)(random)));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_TRUE(WIFSIGNALED(status_of(child)));
    for (std::uint64_t number = 0; ::read(ends[0], &number, sizeof number) == sizeof number;) acknowledged = number;
    ::close(ends[0]);

    // Read by a writer, which is what resumes, and every other time by a reader alone.
    auto journal = Journal::open(file(), round % 2 == 0 ? Journal::Access::write : Journal::Access::read);
    ASSERT_TRUE(journal) << journal.error().to_string();
    EXPECT_EQ(*journal->check(), "");
    const auto attempts = journal->attempts("n", "a");
    ASSERT_TRUE(attempts) << attempts.error().to_string();
    ASSERT_GE(attempts->size(), acknowledged);
    ASSERT_LE(attempts->size(), acknowledged + 1);
    for (std::size_t i = 0; i < attempts->size(); ++i) expect_same((*attempts)[i], numbered(i + 1));
    EXPECT_EQ(journal->tasks("n")->front().attempts, attempts->size());
    known = attempts->size();
  }
  EXPECT_GT(known, 0u);
}

TEST_F(JournalTest, KeepsAFirstStartThatWasKilled) {
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    fs::remove_all(file().parent_path());
    const pid_t child = in_child([&] { return Journal::open(file(), Journal::Access::write) ? 0 : 1; });
    ::usleep(static_cast<useconds_t>(std::uniform_int_distribution<int>(0, 6'000)(random)));
    ::kill(child, SIGKILL);
    status_of(child);
    auto journal = Journal::open(file(), Journal::Access::write);
    ASSERT_TRUE(journal) << journal.error().to_string();
    EXPECT_TRUE(journal->begin(night_of("n", 1), {}));
    EXPECT_EQ(*journal->check(), "");
  }
}

namespace {

// Fills the journal until it cannot; then what was acknowledged is there, whole, and after `relieve` it goes on.
// Answers 0.
int fill(const fs::path& file, const std::function<void()>& relieve) {
  auto journal = Journal::open(file, Journal::Access::write);
  if (!journal) return 1;
  std::uint64_t number = 1;
  for (;; ++number) {
    Attempt attempt = numbered(number);
    attempt.output = std::string(20'000, 'o');
    Task task = task_of("n", "a");
    task.attempts = number;
    const auto saved = journal->save(nullptr, &task, &attempt);
    if (saved) {
      if (number > 500) return 2;
      continue;
    }
    if (saved.error().code() != ErrorCode::io_error) return 3;
    if (saved.error().hint().find("disk") == std::string_view::npos) return 4;
    break;
  }
  const auto whole = [&](const Journal& seen) {
    const auto attempts = seen.attempts("n", "a");
    const auto tasks = seen.tasks("n");
    return attempts && tasks && attempts->size() == number - 1 && tasks->front().attempts == number - 1;
  };
  if (!whole(*journal)) return 5;
  relieve();
  if (!whole(*journal)) return 6;
  const Attempt attempt = numbered(number++);
  Task task = task_of("n", "a");
  task.attempts = number - 1;
  if (!journal->save(nullptr, &task, &attempt)) return 7;
  if (!whole(*journal)) return 8;
  return journal->check() && journal->check()->empty() ? 0 : 9;
}

}  // namespace

TEST_F(JournalTest, LosesNothingWhenFilesCannotGrow) {
  make();
  EXPECT_EQ(exit_of(in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{300'000, RLIM_INFINITY};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 300'000;
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 100;
    return fill(file(), [&] {
      limit.rlim_cur = before;
      ::setrlimit(RLIMIT_FSIZE, &limit);
    });
  })),
      0);
  EXPECT_EQ(*reader().check(), "");
}

TEST_F(JournalTest, LosesNothingWhenTheDiskIsFull) {
  constexpr int kNoMount = 77;
  const fs::path mount = temp_.path() / "small";
  fs::create_directory(mount);
  const int exit = exit_of(in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return kNoMount;
    if (::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=600k") != 0) return kNoMount;
    const fs::path journal = mount / "journal.db";
    {
      auto made = Journal::open(journal, Journal::Access::write);
      if (!made || !made->begin(night_of("n", 1), {task_of("n", "a")})) return 101;
      std::ofstream(mount / "ballast") << std::string(100'000, 'b');
    }
    return fill(journal, [&] { fs::remove(mount / "ballast"); });
  }));
  if (exit == kNoMount) GTEST_SKIP() << "no mounts here";
  EXPECT_EQ(exit, 0);
}

namespace {

// Root writes to everything: as somebody else.
int as_nobody(const std::function<int()>& work) {
  return exit_of(in_child([&] {
    if (::geteuid() == 0 && (::setgid(65'534) != 0 || ::setuid(65'534) != 0)) return 102;
    return work();
  }));
}

}  // namespace

TEST_F(JournalTest, CanBeReadInAFolderThatCannotBeWritten) {
  make();
  ASSERT_EQ(::chmod(temp_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(file().c_str(), 0444), 0);
  ASSERT_EQ(::chmod(file().parent_path().c_str(), 0555), 0);
  EXPECT_EQ(as_nobody([&] {
    auto journal = Journal::open(file(), Journal::Access::read);
    if (!journal) return 1;
    const auto tasks = journal->tasks("n");
    return tasks && tasks->size() == 2 && journal->check() && journal->check()->empty() ? 0 : 2;
  }),
      0);
  EXPECT_EQ(as_nobody([&] {
    const auto journal = Journal::open(file(), Journal::Access::write);
    if (journal) return 1;
    return journal.error().code() == ErrorCode::io_error && !journal.error().hint().empty() ? 0 : 2;
  }),
      0);
  ASSERT_EQ(::chmod(file().parent_path().c_str(), 0700), 0);
}

TEST_F(JournalTest, NeverAnswersFromHalfAJournalInAFolderThatCannotBeWritten) {
  make();
  Journal writing = writer();
  ASSERT_TRUE(writing.request_stop("n"));
  ASSERT_EQ(::chmod(temp_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(file().c_str(), 0444), 0);
  ASSERT_EQ(::chmod(file().parent_path().c_str(), 0555), 0);
  // Without the files beside it the last steps cannot be seen: then there is no answer at all.
  EXPECT_EQ(as_nobody([&] {
    const auto journal = Journal::open(file(), Journal::Access::read);
    if (!journal) return journal.error().code() == ErrorCode::io_error ? 0 : 1;
    const auto asked = journal->stop_requested("n");
    return !asked || *asked ? 0 : 2;
  }),
      0);
  ASSERT_EQ(::chmod(file().parent_path().c_str(), 0700), 0);
}

TEST_F(JournalTest, ListsTheNewestNightsFirst) {
  Journal journal = writer();
  for (const auto& [id, started] : {std::pair{"b", 20}, std::pair{"a", 30}, std::pair{"c", 10}, std::pair{"d", 20}}) {
    ASSERT_TRUE(journal.begin(night_of(id, started), {}));
  }
  const auto ids = [&](std::size_t limit) {
    std::vector<std::string> list;
    const auto nights = journal.nights(limit);
    for (const auto& night : *nights) list.push_back(night.id);
    return list;
  };
  EXPECT_THAT(ids(0), ElementsAre("a", "d", "b", "c"));
  EXPECT_THAT(ids(2), ElementsAre("a", "d"));
  EXPECT_EQ((*journal.nights(1))[0].plan_text, "");
}

TEST_F(JournalTest, SumsUpNights) {
  Journal journal = writer();
  ASSERT_TRUE(journal.begin(night_of("empty", 1), {}));
  std::vector<Task> tasks;
  const std::pair<TaskState, int> states[] = {{TaskState::accepted, 5}, {TaskState::refused, 4}, {TaskState::failed, 3},
      {TaskState::skipped, 2}, {TaskState::waiting, 1}, {TaskState::running, 1}};
  for (const auto& [state, count] : states) {
    for (int i = 0; i < count; ++i) {
      tasks.push_back(task_of("n", "t" + std::to_string(tasks.size()), tasks.size()));
      tasks.back().state = state;
    }
  }
  Night night = night_of("n", 2);
  night.ended_ms = 7;
  ASSERT_TRUE(journal.begin(night, tasks));
  for (std::uint64_t number = 1; number <= 3; ++number) {
    Attempt attempt = attempt_of("n", "t0", number);
    attempt.findings = {of_rule("host.eval"), of_rule("policy.lockfile"), of_rule("host.eval")};
    attempt.flaky = {"f1", "f2"};
    attempt.started_ms = 100 - static_cast<std::int64_t>(number);
    ASSERT_TRUE(journal.save(nullptr, nullptr, &attempt));
  }
  const auto sums = journal.sums(0);
  ASSERT_TRUE(sums) << sums.error().to_string();
  ASSERT_EQ(sums->size(), 2u);
  const auto& row = sums->front();
  EXPECT_EQ(row.night, "n");
  EXPECT_EQ(row.started_ms, 2);
  EXPECT_EQ(row.ended_ms, 7);
  EXPECT_EQ(row.accepted, 5u);
  EXPECT_EQ(row.refused, 4u);
  EXPECT_EQ(row.failed, 3u);
  EXPECT_EQ(row.skipped, 2u);
  EXPECT_EQ(row.waiting, 2u);
  EXPECT_EQ(row.attempts, 3u);
  EXPECT_EQ(row.findings, 9u);
  EXPECT_EQ(row.flaky, 2u);
  EXPECT_EQ(sums->back().night, "empty");
  EXPECT_EQ(sums->back().attempts, 0u);
  EXPECT_EQ(journal.sums(1)->size(), 1u);

  const auto rules = journal.findings_by_rule("n");
  ASSERT_EQ(rules->size(), 2u);
  EXPECT_EQ(rules->front().rule, "host.eval");
  EXPECT_EQ(rules->front().count, 6u);
  EXPECT_EQ(rules->back().count, 3u);
  EXPECT_THAT(*journal.findings_by_rule("empty"), IsEmpty());

  const auto by_time = journal.attempts("n");
  EXPECT_EQ(by_time->front().number, 3u);
  EXPECT_EQ(journal.attempts("n", "t0")->front().number, 1u);
}

TEST_F(JournalTest, CountsFlakesOverNights) {
  Journal journal = writer();
  for (int i = 1; i <= 4; ++i) {
    const std::string id = "n" + std::to_string(i);
    ASSERT_TRUE(journal.begin(night_of(id, i), {task_of(id, "a")}));
    for (std::uint64_t number = 1; number <= 2; ++number) {
      Attempt attempt = attempt_of(id, "a", number);
      if (i != 4) attempt.flaky.push_back("often");
      if (i == 1) attempt.flaky.push_back("long ago");
      if (i == 4) attempt.flaky.push_back("lately");
      ASSERT_TRUE(journal.save(nullptr, nullptr, &attempt));
    }
  }
  const auto flakes = journal.flakes(0);
  ASSERT_TRUE(flakes) << flakes.error().to_string();
  ASSERT_EQ(flakes->size(), 3u);
  EXPECT_EQ((*flakes)[0].test, "often");
  EXPECT_EQ((*flakes)[0].nights, 3u);
  EXPECT_EQ((*flakes)[0].last_night, "n3");
  EXPECT_EQ((*flakes)[1].test, "lately");
  EXPECT_EQ((*flakes)[2].test, "long ago");
  const auto newest = journal.flakes(2);
  ASSERT_EQ(newest->size(), 2u);
  EXPECT_EQ((*newest)[0].test, "lately");
  EXPECT_EQ((*newest)[1].nights, 1u);
}

std::vector<Task> sent_back(const Journal& journal) {
  std::vector<Task> rows;
  const auto latest = journal.latest();
  for (const Task& task : *latest) {
    if (task.review == Review::sent_back) rows.push_back(task);
  }
  return rows;
}

TEST_F(JournalTest, ListsWhatWasSentBackUntilANightTakesIt) {
  Journal journal = writer();
  ASSERT_TRUE(journal.begin(night_of("n1", 1), {task_of("n1", "a"), task_of("n1", "b", 1), task_of("n1", "c", 2)}));
  ASSERT_TRUE(journal.review("n1", "a", Review::sent_back, "first"));
  ASSERT_TRUE(journal.review("n1", "b", Review::sent_back, "again"));
  ASSERT_TRUE(journal.review("n1", "c", Review::dropped, "no"));
  EXPECT_EQ(sent_back(journal).size(), 2u);
  ASSERT_TRUE(journal.begin(night_of("n2", 2), {task_of("n2", "a")}));
  auto back = sent_back(journal);
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back.front().id, "b");
  EXPECT_EQ(back.front().note, "again");
  ASSERT_TRUE(journal.review("n2", "a", Review::sent_back, "second"));
  back = sent_back(journal);
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back.back().note, "second");
  // A night that skipped it has said nothing about it.
  Task skipped = task_of("n3", "a");
  skipped.state = TaskState::skipped;
  ASSERT_TRUE(journal.begin(night_of("n3", 3), {skipped}));
  EXPECT_EQ(sent_back(journal).size(), 2u);
}

TEST_F(JournalTest, ForgetsOldNightsAndAllOfThem) {
  Journal journal = writer();
  for (int i = 1; i <= 5; ++i) {
    const std::string id = "n" + std::to_string(i);
    Night night = night_of(id, i * 100);
    night.ended_ms = i == 2 ? 0 : i * 100 + 50;  // the second one still runs
    ASSERT_TRUE(journal.begin(night, {task_of(id, "a" + id)}));
    Attempt attempt = full_attempt();
    attempt.night = id;
    attempt.task = "a" + id;
    ASSERT_TRUE(journal.save(nullptr, nullptr, &attempt));
  }
  // Nothing that waits for a night is lost.
  ASSERT_TRUE(journal.review("n3", "an3", Review::sent_back, "later"));
  const auto ids = journal.forget(450);
  ASSERT_TRUE(ids) << ids.error().to_string();
  EXPECT_THAT(*ids, ElementsAre("n1"));
  EXPECT_THAT(*journal.forget(451), ElementsAre("n4"));
  EXPECT_THAT(*journal.tasks("n1"), IsEmpty());
  EXPECT_THAT(*journal.attempts("n1"), IsEmpty());
  EXPECT_THAT(*journal.findings_by_rule("n1"), IsEmpty());
  EXPECT_EQ(journal.nights(0)->size(), 3u);
  EXPECT_EQ(*journal.check(), "");
}

// What was decided is not run again, however long ago it was.
TEST_F(JournalTest, KeepsDecisionsOfForgottenNights) {
  Journal journal = writer();
  for (const TaskState state : {TaskState::accepted, TaskState::refused, TaskState::failed}) {
    const std::string id(to_string(state));
    Night night = night_of(id, 100);
    night.ended_ms = 150;
    Task task = task_of(id, "t-" + id);
    task.state = state;
    ASSERT_TRUE(journal.begin(night, {task}));
    Attempt attempt = full_attempt();
    attempt.night = id;
    attempt.task = task.id;
    ASSERT_TRUE(journal.save(nullptr, nullptr, &attempt));
  }
  EXPECT_THAT(*journal.forget(200), UnorderedElementsAre("accepted", "refused", "failed"));
  EXPECT_THAT(*journal.attempts("accepted"), IsEmpty());
  EXPECT_EQ(journal.tasks("accepted")->size(), 1u);
  EXPECT_EQ(journal.tasks("refused")->size(), 1u);
  EXPECT_THAT(*journal.tasks("failed"), IsEmpty());
  EXPECT_THAT(*journal.forget(200), IsEmpty());
  // A later night of the same task takes the decision over.
  Night later = night_of("later", 300);
  Task again = task_of("later", "t-accepted");
  again.state = TaskState::accepted;
  ASSERT_TRUE(journal.begin(later, {again}));
  EXPECT_THAT(*journal.forget(200), ElementsAre("accepted"));
  EXPECT_EQ(*journal.check(), "");
}

TEST_F(JournalTest, TakesNamesThatSqliteReadsAsSomethingElse) {
  for (const std::string name : {":memory:", "a?mode=memory", "a%00b", "a#b", "file:x", "a b'\"", "\xff"}) {
    const fs::path path = temp_.path() / "names" / name;
    {
      auto journal = Journal::open(path, Journal::Access::write);
      ASSERT_TRUE(journal) << name << journal.error().to_string();
      ASSERT_TRUE(journal->begin(night_of("n", 1), {}));
    }
    EXPECT_TRUE(fs::exists(path)) << name;
    auto journal = Journal::open(path, Journal::Access::read);
    ASSERT_TRUE(journal) << name;
    EXPECT_EQ(journal->nights(0)->size(), 1u);
  }
  EXPECT_FALSE(Journal::open(fs::path(std::string("a\0b", 3)), Journal::Access::write));
  EXPECT_FALSE(Journal::open("", Journal::Access::write));
}

}  // namespace guard::nightly
