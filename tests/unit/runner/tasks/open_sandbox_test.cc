// A sandbox that stays, on every backend that has one.
#include "runner/tasks/open_sandbox.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <thread>

#include "runner/process/stray_processes.h"
#include "runner/tasks/watch_events.h"
#include "tests/support/runner/every_sandbox.h"

namespace guard {
namespace {

using testing::case_program;
using Stream = Task::Piece::Stream;

#define ASSERT_OK(result) ASSERT_TRUE((result).has_value()) << (result).error().to_string()

class OpenSandboxTest : public testing::EverySandbox {
 protected:
  std::vector<std::filesystem::path> programs() const override { return {case_program("acts")}; }

  void opened(const std::function<void(OpenSandbox&)>& body) {
    each([&] {
      auto sandbox = open();
      ASSERT_OK(sandbox);
      body(**sandbox);
      if (::testing::Test::HasFailure()) return;
      const auto closed = (*sandbox)->close(milliseconds(0));
      EXPECT_TRUE(closed) << closed.error().to_string();
      EXPECT_FALSE((*sandbox)->fault()) << (*sandbox)->fault()->to_string();
    });
  }

  Result<std::unique_ptr<OpenSandbox>> open() {
    SandboxSpec wanted = spec({});
    wanted.mounts.clear();
    wanted.scratch = scratch_;
    workspace_ = cache() / ("workspace-" + wanted.run_id);
    std::filesystem::create_directories(workspace_);
    struct stat found {};
    EXPECT_EQ(::stat(workspace_.c_str(), &found), 0);
    wanted.shared = {{workspace_, "/workspace", {found.st_dev, found.st_ino}}};
    wanted.working_dir = "/workspace";
    run_id_ = wanted.run_id;
    return open_in(wanted);
  }

  TaskSpec acts(std::vector<std::string> words) {
    TaskSpec task;
    task.argv = std::move(words);
    task.argv.insert(task.argv.begin(), "acts");
    task.env = {{"PATH", "/bin"}};
    return task;
  }

  static TaskSpec operation(TaskOperation kind, std::vector<std::string> words) {
    TaskSpec task;
    task.kind = kind;
    task.argv = std::move(words);
    return task;
  }

  static Result<TaskOutput> done(OpenSandbox& sandbox, const TaskSpec& spec) {
    return run_task(sandbox, spec, 1 << 20, Deadline::after(milliseconds(30'000)));
  }

  static Result<TaskOutput> put(OpenSandbox& sandbox, const std::string& path, const std::string& bytes) {
    TaskSpec task = operation(TaskOperation::put, {path, "644"});
    task.input = true;
    GUARD_TRY_ASSIGN(const auto started, sandbox.start(task));
    GUARD_TRY(started->write_input(bytes, Deadline::after(milliseconds(30'000))));
    GUARD_TRY(started->close_input());
    GUARD_TRY_ASSIGN(const auto piece, started->read(Deadline::after(milliseconds(30'000))));
    if (piece) return Error(ErrorCode::protocol_error, "a put has no output");
    TaskOutput output;
    GUARD_TRY_ASSIGN(output.end, started->end());
    return output;
  }

  std::filesystem::path workspace_;
  std::string run_id_;
  std::vector<ScratchFolder> scratch_;
};

INSTANTIATE_TEST_SUITE_P(In, OpenSandboxTest,
    ::testing::Values(testing::Where::docker, testing::Where::namespace_as_we_are, testing::Where::namespace_as_user,
        testing::Where::podman),
    testing::name_of);

class OpenSandboxOfAnotherRuntime : public OpenSandboxTest {};
INSTANTIATE_TEST_SUITE_P(In, OpenSandboxOfAnotherRuntime, ::testing::Values(testing::Where::runsc), testing::name_of);

TEST_P(OpenSandboxOfAnotherRuntime, IsRefusedAndSaysWhy) {
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::input_invalid);
  EXPECT_NE(refused.error().message().find("runsc"), std::string::npos) << refused.error().message();
}

TEST_P(OpenSandboxTest, RunsOneTaskAfterAnotherEachWithItsOwnEnvironmentAndFolder) {
  opened([this](OpenSandbox& sandbox) {
    TaskSpec first = acts({"env", "NAME", "cwd", "exit", "7"});
    first.env["NAME"] = "value with\nnewline";
    first.working_dir = "/tmp";
    const auto one = done(sandbox, first);
    ASSERT_OK(one);
    EXPECT_EQ(one->out, "value with\nnewline\n/tmp\n");
    EXPECT_EQ(one->end.outcome.kind, OutcomeKind::exited);
    EXPECT_EQ(one->end.outcome.value, 7);
    const auto two = done(sandbox, acts({"env", "NAME", "cwd"}));
    ASSERT_OK(two);
    EXPECT_EQ(two->out, "unset\n/workspace\n");
    EXPECT_EQ(sandbox.running(), 0u);
    EXPECT_EQ(sandbox.seen_inside().at("uid"), "1000");
    EXPECT_EQ(sandbox.enforced_by().at("network"), "namespace");
  });
}

TEST_P(OpenSandboxTest, RunsTasksSideBySide) {
  opened([this](OpenSandbox& sandbox) {
    std::vector<std::unique_ptr<Task>> tasks;
    for (std::size_t i = 0; i < task_protocol::kTasksMax; ++i) {
      auto task = sandbox.start(acts({"sleep", "300", "args", std::to_string(i)}));
      ASSERT_OK(task);
      tasks.push_back(std::move(*task));
    }
    EXPECT_EQ(sandbox.running(), tasks.size());
    const auto refused = sandbox.start(acts({"args"}));
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().details().contains("limit"));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      std::string out;
      for (;;) {
        auto piece = tasks[i]->read(Deadline::after(milliseconds(30'000)));
        ASSERT_OK(piece);
        if (!*piece) break;
        out += (*piece)->bytes;
      }
      EXPECT_EQ(out, std::to_string(i) + "\n");
      ASSERT_OK(tasks[i]->end());
    }
    ASSERT_OK(done(sandbox, acts({"args"})));
  });
}

// A reader that does not read stops its own stream and nothing else, and what it has not read is not lost.
TEST_P(OpenSandboxTest, AReaderThatDoesNotReadStopsItsOwnStreamOnly) {
  opened([this](OpenSandbox& sandbox) {
    constexpr std::size_t kBytes = 8 << 20;
    auto flood = sandbox.start(acts({"flood", std::to_string(kBytes)}));
    ASSERT_OK(flood);
    for (int i = 0; i < 20; ++i) {
      const auto other = done(sandbox, acts({"args", "here"}));
      ASSERT_OK(other);
      EXPECT_EQ(other->out, "here\n");
    }
    EXPECT_FALSE((*flood)->ended());
    std::size_t read = 0;
    for (;;) {
      const auto piece = (*flood)->read(Deadline::after(milliseconds(30'000)));
      ASSERT_OK(piece);
      if (!*piece) break;
      read += (*piece)->bytes.size();
    }
    EXPECT_EQ(read, kBytes);
    const auto end = (*flood)->end();
    ASSERT_OK(end);
    EXPECT_EQ(end->outcome.value, 0);
  });
}

TEST_P(OpenSandboxTest, ATaskThatIsDroppedIsKilledAndItsPlaceIsFree) {
  opened([this](OpenSandbox& sandbox) {
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < task_protocol::kTasksMax; ++i) {
        const auto dropped = sandbox.start(acts({"ignore-term", "hold", "flood", "100000000"}));
        ASSERT_OK(dropped);
      }
      const Deadline deadline = Deadline::after(milliseconds(20'000));
      while (sandbox.running() > 0 && !deadline.passed()) std::this_thread::sleep_for(milliseconds(5));
      ASSERT_EQ(sandbox.running(), 0u);
    }
    // A keeper leaves shortly after it has reported the end of its task.
    const Deadline deadline = Deadline::after(milliseconds(20'000));
    for (;;) {
      const auto used = done(sandbox, operation(TaskOperation::usage, {}));
      ASSERT_OK(used);
      if (used->out.find("processes=2\n") != std::string::npos) break;  // init, and this one
      ASSERT_FALSE(deadline.passed()) << used->out;
      std::this_thread::sleep_for(milliseconds(5));
    }
  });
}

TEST_P(OpenSandboxTest, TakesInputToItsEndAndKeepsItBackFromWhoDoesNotRead) {
  opened([this](OpenSandbox& sandbox) {
    TaskSpec echoes = acts({"echo"});
    echoes.input = true;
    auto task = sandbox.start(echoes);
    ASSERT_OK(task);
    ASSERT_OK((*task)->write_input("one\n", Deadline::never()));
    auto piece = (*task)->read(Deadline::after(milliseconds(30'000)));
    ASSERT_OK(piece);
    ASSERT_TRUE(*piece);
    EXPECT_EQ((*piece)->bytes, "got one\n");
    ASSERT_OK((*task)->write_input("two\n", Deadline::never()));
    ASSERT_OK((*task)->close_input());
    piece = (*task)->read(Deadline::after(milliseconds(30'000)));
    ASSERT_OK(piece);
    ASSERT_TRUE(*piece);
    EXPECT_EQ((*piece)->bytes, "got two\n");
    piece = (*task)->read(Deadline::after(milliseconds(30'000)));
    ASSERT_OK(piece);
    EXPECT_FALSE(*piece);
    const auto end = (*task)->end();
    ASSERT_OK(end);
    EXPECT_EQ(end->outcome.value, 0);

    TaskSpec deaf = acts({"sleep", "60000"});
    deaf.input = true;
    auto other = sandbox.start(deaf);
    ASSERT_OK(other);
    const auto written = (*other)->write_input(std::string(1 << 20, 'x'), Deadline::after(milliseconds(500)));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), ErrorCode::execution_timeout);
    ASSERT_OK(done(sandbox, acts({"args"})));
  });
}

TEST_P(OpenSandboxTest, EndsATaskAtItsTimeWithAllThatItStarted) {
  opened([this](OpenSandbox& sandbox) {
    for (const char* how : {"args", "ignore-term", "stop-parent"}) {
      TaskSpec slow = acts({how, "hold", "sleep", "60000"});
      if (how == std::string("args")) slow = acts({"hold", "sleep", "60000"});
      slow.timeout = milliseconds(200);
      slow.grace = milliseconds(300);
      const auto ended = done(sandbox, slow);
      ASSERT_OK(ended);
      // A keeper that was stopped is killed in the end, and what it kept as well.
      EXPECT_TRUE(ended->end.outcome.kind == OutcomeKind::timed_out ||
          (how == std::string("stop-parent") && ended->end.outcome.kind == OutcomeKind::violation))
          << how << " " << to_string(ended->end.outcome.kind);
    }
    const auto used = done(sandbox, operation(TaskOperation::usage, {}));
    ASSERT_OK(used);
    EXPECT_NE(used->out.find("processes=2\n"), std::string::npos) << used->out;
  });
}

TEST_P(OpenSandboxTest, ATimeLimitDoesNotWaitForAReader) {
  opened([this](OpenSandbox& sandbox) {
    TaskSpec flood = acts({"flood", "100000000"});
    flood.timeout = milliseconds(200);
    const auto task = sandbox.start(flood);
    ASSERT_OK(task);
    for (int i = 0; i < 200 && !(*task)->ended(); ++i) std::this_thread::sleep_for(milliseconds(25));
    ASSERT_TRUE((*task)->ended());
    const auto rest = collect(**task, 1 << 20, Deadline::after(milliseconds(10'000)));
    ASSERT_OK(rest);
    EXPECT_EQ(rest->end.outcome.kind, OutcomeKind::timed_out);
    EXPECT_EQ(rest->out.size(), task_protocol::kWindowBytes);
  });
}

TEST_P(OpenSandboxTest, SaysTheProcessIdThatAProgramHasInside) {
  opened([this](OpenSandbox& sandbox) {
    const auto first = sandbox.start(acts({"ids"}));
    const auto second = sandbox.start(acts({"ids", "sleep", "20000"}));
    ASSERT_OK(first);
    ASSERT_OK(second);
    const Deadline soon = Deadline::after(milliseconds(30'000));
    const std::uint32_t pid = (*first)->pid(soon), other = (*second)->pid(soon);
    EXPECT_NE(pid, other);
    const auto said = collect(**first, 100, soon);
    ASSERT_OK(said);
    EXPECT_EQ(std::atoi(said->out.c_str()), static_cast<int>(pid)) << said->out;
    EXPECT_EQ((*first)->pid(soon), pid) << "after its end, too";
    const TaskSpec look = acts({"file", "/proc/" + std::to_string(other)});
    const auto there = done(sandbox, look);
    ASSERT_OK(there);
    EXPECT_EQ(there->out, "there\n");
    const auto usage = sandbox.start(operation(TaskOperation::usage, {}));
    ASSERT_OK(usage);
    EXPECT_EQ((*usage)->pid(soon), 0u);
  });
}

TEST_P(OpenSandboxTest, KnowsTheProcessorTimeOfAllThatRunsAndHasRun) {
  opened([this](OpenSandbox& sandbox) {
    const auto used_ms = [&]() -> std::int64_t {
      const auto used = done(sandbox, operation(TaskOperation::usage, {}));
      const std::size_t at = used ? used->out.find("cpu_ms=") : std::string::npos;
      return at == std::string::npos ? -1 : std::atoll(used->out.c_str() + at + 7);
    };
    const std::int64_t before = used_ms();
    ASSERT_GE(before, 0);
    ASSERT_OK(done(sandbox, acts({"spin", "300"})));
    EXPECT_GE(used_ms(), before + 280) << "what has ended";
    const auto busy = sandbox.start(acts({"spin", "20000"}));
    ASSERT_OK(busy);
    const Deadline deadline = Deadline::after(milliseconds(60'000));
    while (used_ms() < before + 600 && !deadline.passed()) std::this_thread::sleep_for(milliseconds(50));
    EXPECT_GE(used_ms(), before + 600) << "what runs";
    EXPECT_FALSE((*busy)->ended());
  });
}

// Half a transfer must not look like a whole one, on neither side.
TEST_P(OpenSandboxTest, AConnectionThatIsCutDoesNotEndInOrder) {
  opened([this](OpenSandbox& sandbox) {
    const auto serve = [&](const char* port, const char* how) {
      auto server = sandbox.start(acts({"serve", port, how}));
      EXPECT_TRUE(server && (*server)->read(Deadline::after(milliseconds(10'000))));
      return std::move(*server);
    };
    for (const bool cut : {true, false}) {
      const auto server = serve(cut ? "4001" : "4002", cut ? "cut" : "whole");
      TaskSpec spec = operation(TaskOperation::connect, {cut ? "4001" : "4002"});
      spec.input = true;
      const auto connection = sandbox.start(spec);
      ASSERT_OK(connection);
      bool half_closed = false;
      for (;;) {
        const auto piece = (*connection)->read(Deadline::after(milliseconds(10'000)));
        ASSERT_OK(piece);
        if (!*piece) break;
        if (!(*piece)->bytes.empty()) continue;
        half_closed = true;
        ASSERT_OK((*connection)->close_input());
      }
      EXPECT_EQ(half_closed, !cut);
      EXPECT_EQ((*connection)->end().has_value(), !cut);
    }
    const auto server = serve("4003", "reads");
    TaskSpec spec = operation(TaskOperation::connect, {"4003"});
    spec.input = true;
    auto connection = sandbox.start(spec);
    ASSERT_OK(connection);
    ASSERT_OK((*connection)->write_input("x", Deadline::after(milliseconds(10'000))));
    ASSERT_OK(server->read(Deadline::after(milliseconds(10'000))));
    connection->reset();
    const auto said = collect(*server, 100, Deadline::after(milliseconds(10'000)));
    ASSERT_OK(said);
    EXPECT_EQ(said->out, "reset\n");
  });
}

TEST_P(OpenSandboxTest, NothingOfATaskOutlivesIt) {
  opened([this](OpenSandbox& sandbox) {
    const auto left = done(sandbox, acts({"orphan", "/workspace/late", "hold", "args", "gone"}));
    ASSERT_OK(left);
    EXPECT_EQ(left->out, "gone\n");
    const auto after = done(sandbox, acts({"sleep", "1500", "file", "/workspace/late"}));
    ASSERT_OK(after);
    EXPECT_EQ(after->out, "not there\n");
  });
}

TEST_P(OpenSandboxTest, ATaskThatKillsItsKeeperIsAViolationAndLeavesNothing) {
  opened([this](OpenSandbox& sandbox) {
    auto beside = sandbox.start(acts({"sleep", "2500", "args", "untouched"}));
    ASSERT_OK(beside);
    const auto killed = done(sandbox, acts({"orphan", "/workspace/late", "hold", "kill-parent"}));
    ASSERT_OK(killed);
    EXPECT_EQ(killed->end.outcome.kind, OutcomeKind::violation);
    const auto after = done(sandbox, acts({"sleep", "1500", "file", "/workspace/late"}));
    ASSERT_OK(after);
    EXPECT_EQ(after->out, "not there\n");
    const auto piece = (*beside)->read(Deadline::after(milliseconds(30'000)));
    ASSERT_OK(piece);
    ASSERT_TRUE(*piece);
    EXPECT_EQ((*piece)->bytes, "untouched\n");
  });
}

// Its first thread has ended, so that it shows as a zombie.
TEST_P(OpenSandboxTest, AProcessWithoutItsFirstThreadDoesNotOutliveItsTask) {
  opened([this](OpenSandbox& sandbox) {
    const auto killed = done(sandbox, acts({"ghost", "/workspace/late", "sleep", "100", "kill-parent"}));
    ASSERT_OK(killed);
    EXPECT_EQ(killed->end.outcome.kind, OutcomeKind::violation);
    const auto after = done(sandbox, acts({"sleep", "1500", "file", "/workspace/late"}));
    ASSERT_OK(after);
    EXPECT_EQ(after->out, "not there\n");
  });
}

// Signals queue at a process that has blocked them, PID 1 too.
TEST_P(OpenSandboxTest, SignalsDoNotKeepInitFromItsWork) {
  opened([this](OpenSandbox& sandbox) {
    TaskSpec pesters = acts({"pester-init", "ignore-term", "sleep", "60000"});
    pesters.timeout = milliseconds(1'000);
    pesters.grace = milliseconds(100);
    auto task = sandbox.start(pesters);
    ASSERT_OK(task);
    std::this_thread::sleep_for(milliseconds(200));
    const auto beside = done(sandbox, acts({"env", "PATH"}));
    ASSERT_OK(beside);
    EXPECT_EQ(beside->out, "/bin\n");
    const auto rest = (*task)->read(Deadline::after(milliseconds(30'000)));
    ASSERT_OK(rest);
    EXPECT_FALSE(*rest);
    const auto end = (*task)->end();
    ASSERT_OK(end);
    EXPECT_EQ(end->outcome.kind, OutcomeKind::timed_out);
  });
}

TEST_P(OpenSandboxTest, ASignalRightAfterTheStartIsNotLost) {
  opened([this](OpenSandbox& sandbox) {
    for (int i = 0; i < 100; ++i) {
      auto task = sandbox.start(acts({"sleep", "60000"}));
      ASSERT_OK(task);
      ASSERT_OK((*task)->signal(SIGTERM));
      const auto rest = (*task)->read(Deadline::after(milliseconds(10'000)));
      ASSERT_OK(rest) << i;
      const auto end = (*task)->end();
      ASSERT_OK(end);
      EXPECT_EQ(end->outcome.kind, OutcomeKind::signaled);
    }
  });
}

TEST_P(OpenSandboxTest, ATerminalHasASizeThatCanChange) {
  opened([this](OpenSandbox& sandbox) {
    TaskSpec spec = acts({"tty", "echo", "tty"});
    spec.terminal = TerminalSize{30, 100};
    auto task = sandbox.start(spec);
    ASSERT_OK(task);
    std::string out;
    const auto read_until = [&](const std::string& wanted) {
      while (out.find(wanted) == std::string::npos) {
        const auto piece = (*task)->read(Deadline::after(milliseconds(30'000)));
        ASSERT_OK(piece);
        ASSERT_TRUE(*piece) << out;
        out += (*piece)->bytes;
      }
    };
    read_until("terminal 30 100\r\n");
    ASSERT_OK((*task)->resize({50, 120}));
    ASSERT_OK((*task)->write_input("hello\n", Deadline::never()));
    read_until("got hello\r\n");
    ASSERT_OK((*task)->close_input());
    read_until("terminal 50 120\r\n");
    const auto piece = (*task)->read(Deadline::after(milliseconds(30'000)));
    ASSERT_OK(piece);
    ASSERT_OK((*task)->end());
  });
}

TEST_P(OpenSandboxTest, SaysWhatCouldNotBeStarted) {
  opened([this](OpenSandbox& sandbox) {
    TaskSpec missing = acts({});
    missing.argv = {"no-such-program"};
    const auto none = done(sandbox, missing);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), ErrorCode::file_not_found);
    TaskSpec elsewhere = acts({"args"});
    elsewhere.working_dir = "/no/such/folder";
    const auto nowhere = done(sandbox, elsewhere);
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().code(), ErrorCode::file_not_found);
    TaskSpec folder = acts({});
    folder.argv = {"/bin"};
    const auto refused = done(sandbox, folder);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::execution_failed);
    TaskSpec long_one = acts({"args", std::string(task_protocol::kStartPayloadMax, 'x')});
    const auto too_long = done(sandbox, long_one);
    ASSERT_FALSE(too_long);
    EXPECT_EQ(too_long.error().code(), ErrorCode::input_invalid);
  });
}

TEST_P(OpenSandboxTest, PutsGetsListsMovesAndRemovesFiles) {
  opened([this](OpenSandbox& sandbox) {
    std::string bytes(300'000, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
    ASSERT_OK(put(sandbox, "/workspace/a/b/file", bytes));
    const auto got = done(sandbox, operation(TaskOperation::get, {"a/b/file"}));
    ASSERT_OK(got);
    EXPECT_TRUE(got->out == bytes);
    std::ifstream outside(workspace_ / "a/b/file", std::ios::binary);
    EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(outside), {}) == bytes) << "not the folder outside";

    ASSERT_OK(put(sandbox, "/workspace/a/b/file", "shorter"));
    ASSERT_OK(done(sandbox, operation(TaskOperation::move, {"a/b/file", "a/moved"})));
    ASSERT_OK(done(sandbox, operation(TaskOperation::make_folder, {"x/y/z"})));
    ASSERT_OK(done(sandbox, operation(TaskOperation::make_folder, {"x/y/z"})));
    const auto listed = done(sandbox, operation(TaskOperation::list, {"/workspace", "9"}));
    ASSERT_OK(listed);
    for (const std::string path : {"a", "a/b", "a/moved", "x", "x/y", "x/y/z"}) {
      std::string record(1, '\0');
      record += path;
      record += '\0';
      EXPECT_NE(listed->out.find(record), std::string::npos) << path;
    }
    EXPECT_EQ(listed->out.find("guard-put"), std::string::npos);
    const auto entry = done(sandbox, operation(TaskOperation::stat, {"a/moved"}));
    ASSERT_OK(entry);
    EXPECT_EQ(entry->out.substr(0, 8), "f 644 7 ");
    ASSERT_OK(done(sandbox, operation(TaskOperation::remove, {"a"})));
    ASSERT_OK(done(sandbox, operation(TaskOperation::remove, {"a"})));
    EXPECT_FALSE(std::filesystem::exists(workspace_ / "a"));

    for (const auto& [kind, words] :
        std::vector<std::pair<TaskOperation, std::vector<std::string>>>{{TaskOperation::get, {"/workspace"}},
            {TaskOperation::get, {"none"}}, {TaskOperation::get, {"/dev/zero"}}, {TaskOperation::list, {"none", "1"}},
            {TaskOperation::stat, {"none"}}, {TaskOperation::move, {"none", "x/none"}},
            {TaskOperation::remove, {"/bin/acts"}}, {TaskOperation::make_folder, {"/bin/folder"}},
            {TaskOperation::get, {}}, {static_cast<TaskOperation>('?'), {}}}) {
      const auto failed = done(sandbox, operation(kind, words));
      EXPECT_FALSE(failed) << static_cast<char>(kind);
    }
    EXPECT_FALSE(put(sandbox, "/bin/acts", "not mine"));
    EXPECT_FALSE(put(sandbox, "/workspace/x", "a folder"));
  });
}

TEST_P(OpenSandboxTest, TellsWhatChangesInAFolder) {
  opened([this](OpenSandbox& sandbox) {
    ASSERT_OK(done(sandbox, operation(TaskOperation::make_folder, {"old"})));
    const auto task = sandbox.start(operation(TaskOperation::watch, {"/workspace", "9"}));
    ASSERT_OK(task);
    WatchReader reader;
    std::vector<WatchEvent> seen;
    const auto sees = [&](const WatchEvent& wanted) {
      const Deadline deadline = Deadline::after(milliseconds(10'000));
      while (std::find(seen.begin(), seen.end(), wanted) == seen.end() && !deadline.passed()) {
        const auto piece = (*task)->read(deadline);
        if (!piece || !*piece) break;
        const auto events = reader.push((*piece)->bytes);
        ASSERT_OK(events);
        seen.insert(seen.end(), events->begin(), events->end());
      }
      EXPECT_NE(std::find(seen.begin(), seen.end(), wanted), seen.end()) << to_string(wanted.kind) << wanted.path;
    };
    sees({WatchKind::begun, ""});
    ASSERT_OK(done(sandbox, acts({"write", "old/file"})));
    sees({WatchKind::create, "old/file"});
    sees({WatchKind::write, "old/file"});
    ASSERT_OK(done(sandbox, operation(TaskOperation::make_folder, {"new/deep"})));
    sees({WatchKind::create, "new/deep"});
    ASSERT_OK(done(sandbox, operation(TaskOperation::move, {"old", "new/old"})));
    sees({WatchKind::rename, "old"});
    sees({WatchKind::create, "new/old/file"});
    ASSERT_OK(done(sandbox, acts({"write", "new/old/second"})));
    sees({WatchKind::create, "new/old/second"});
    ASSERT_OK(put(sandbox, "new/put", "once"));
    sees({WatchKind::create, "new/put"});
    sees({WatchKind::write, "new/put"});
    seen.clear();
    ASSERT_OK(put(sandbox, "new/put", "twice"));
    sees({WatchKind::write, "new/put"});
    ASSERT_OK(done(sandbox, operation(TaskOperation::remove, {"new"})));
    sees({WatchKind::remove, "new"});
    for (const WatchEvent& event : seen) {
      EXPECT_EQ(event.path.find(".guard-put-"), std::string::npos) << event.path;
      EXPECT_EQ(event.path.find('#'), std::string::npos) << event.path;
    }
    EXPECT_FALSE((*task)->ended());
  });
}

// More happens than is read: what the reader has is bounded, and it is told that there was more.
TEST_P(OpenSandboxTest, TellsThatItHasMissedWhatChanged) {
  opened([this](OpenSandbox& sandbox) {
    ASSERT_OK(done(sandbox, acts({"shut", "/workspace/shut"})));
    const auto deep = sandbox.start(operation(TaskOperation::watch, {"/workspace", "2"}));
    ASSERT_OK(deep);
    const auto told = (*deep)->read(Deadline::after(milliseconds(10'000)));
    ASSERT_TRUE(told && *told);
    const auto first = WatchReader().push((*told)->bytes);
    ASSERT_OK(first);
    EXPECT_EQ(first->front().kind, WatchKind::missed) << "what lies in a folder that it can't read";
    EXPECT_EQ(first->front().path, "shut");
    const auto task = sandbox.start(operation(TaskOperation::watch, {"/workspace", "1"}));
    ASSERT_OK(task);
    const auto begun = (*task)->read(Deadline::after(milliseconds(10'000)));
    ASSERT_OK(begun);
    ASSERT_OK(done(sandbox, acts({"churn", "/workspace/" + std::string(200, 'x'), "20000"})));
    WatchReader reader;
    ASSERT_OK(reader.push((*begun)->bytes));
    bool missed = false;
    while (!missed) {
      const auto piece = (*task)->read(Deadline::after(milliseconds(5'000)));
      ASSERT_OK(piece);
      const auto events = reader.push((*piece)->bytes);
      ASSERT_OK(events);
      for (const WatchEvent& event : *events) missed = missed || event.kind == WatchKind::missed;
    }
  });
}

TEST_P(OpenSandboxTest, SaysWhereNobodyListens) {
  opened([](OpenSandbox& sandbox) {
    TaskSpec spec = operation(TaskOperation::connect, {"4000"});
    spec.input = true;
    const auto refused = done(sandbox, spec);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().details().at("errno"), std::to_string(ECONNREFUSED)) << refused.error().to_string();
    for (const char* port : {"0", "65536", "x"})
      EXPECT_FALSE(done(sandbox, operation(TaskOperation::connect, {port}))) << port;
  });
}

// What was sent in part is no file, and the file that was there is whole.
TEST_P(OpenSandboxTest, AnUploadThatIsBrokenOffLeavesTheFileAsItWas) {
  opened([this](OpenSandbox& sandbox) {
    ASSERT_OK(put(sandbox, "/workspace/file", "first"));
    {
      TaskSpec task = operation(TaskOperation::put, {"/workspace/file", "644"});
      task.input = true;
      const auto started = sandbox.start(task);
      ASSERT_OK(started);
      ASSERT_OK((*started)->write_input("sec", Deadline::never()));
    }
    const Deadline deadline = Deadline::after(milliseconds(10'000));
    while (sandbox.running() > 0 && !deadline.passed()) std::this_thread::sleep_for(milliseconds(5));
    const auto got = done(sandbox, operation(TaskOperation::get, {"file"}));
    ASSERT_OK(got);
    EXPECT_EQ(got->out, "first");
    const auto listed = done(sandbox, operation(TaskOperation::list, {"/workspace", "9"}));
    ASSERT_OK(listed);
    EXPECT_EQ(listed->out.find("guard-put"), std::string::npos);
  });
}

TEST_P(OpenSandboxTest, ClosesWithGraceAndThenByForce) {
  each([this] {
    auto sandbox = open();
    ASSERT_OK(sandbox);
    auto stubborn = (*sandbox)->start(acts({"ignore-term", "env", "PATH", "sleep", "60000"}));
    ASSERT_OK(stubborn);
    ASSERT_OK((*stubborn)->read(Deadline::after(milliseconds(30'000))));
    ASSERT_OK((*sandbox)->close(milliseconds(300)));
    EXPECT_FALSE((*sandbox)->alive());
    const auto rest = (*stubborn)->read(Deadline::after(milliseconds(1'000)));
    if (rest) {
      EXPECT_FALSE(*rest);
    }
    const auto end = (*stubborn)->end();
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code(), ErrorCode::environment_unavailable);
    const auto late = (*sandbox)->start(acts({"args"}));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), ErrorCode::environment_unavailable);
    // podman's monitor of the container ends a moment after it.
    const Deadline deadline = Deadline::after(milliseconds(10'000));
    while (testing::processes_with(run_id_) > 0 && !deadline.passed()) std::this_thread::sleep_for(milliseconds(5));
    EXPECT_EQ(testing::processes_with(run_id_), 0);
    ASSERT_OK((*sandbox)->close(milliseconds(0)));
  });
}

// Nobody's end but the sandbox's own: its init is killed from outside.
TEST_P(OpenSandboxTest, SaysThatItHasGone) {
  if (in_container()) GTEST_SKIP() << "the engine's own way of killing is tested there";
  each([this] {
    auto sandbox = open();
    ASSERT_OK(sandbox);
    auto task = (*sandbox)->start(acts({"sleep", "60000"}));
    ASSERT_OK(task);
    std::atomic<bool> told = false;
    (*sandbox)->on_end([&] { told = true; });
    const auto owner = run_owner(run_id_);
    ASSERT_OK(owner);
    ASSERT_GE(kill_inits_of(*owner), 1);
    const auto rest = (*task)->read(Deadline::after(milliseconds(20'000)));
    if (rest) {
      EXPECT_FALSE(*rest);
    }
    EXPECT_FALSE((*task)->end());
    const Deadline deadline = Deadline::after(milliseconds(10'000));
    while (!told && !deadline.passed()) std::this_thread::sleep_for(milliseconds(5));
    EXPECT_TRUE(told);
    EXPECT_FALSE((*sandbox)->alive());
    ASSERT_TRUE((*sandbox)->fault());
    EXPECT_EQ((*sandbox)->fault()->code(), ErrorCode::environment_unavailable);
  });
}

// Its /run, as that of a session.
TEST_P(OpenSandboxTest, HoldsAFolderInMemoryToItsLimit) {
  scratch_ = {{"/run", {}, 1 << 20, 100}};
  opened([this](OpenSandbox& sandbox) {
    ASSERT_OK(put(sandbox, "/run/small", std::string(1000, 'x')));
    const auto full = put(sandbox, "/run/large", std::string(2 << 20, 'x'));
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().sys_errno(), ENOSPC) << full.error().to_string();
  });
}

TEST_P(OpenSandboxTest, HasNothingOfAnotherOne) {
  each([this] {
    auto one = open();
    ASSERT_OK(one);
    ASSERT_OK(done(**one, acts({"write", "/workspace/mine", "write", "/tmp/mine", "write", "/dev/shm/mine"})));
    auto running = (*one)->start(acts({"sleep", "60000"}));
    ASSERT_OK(running);
    auto two = open();
    ASSERT_OK(two);
    const auto seen = done(**two, acts({"file", "/workspace/mine", "file", "/tmp/mine", "file", "/dev/shm/mine"}));
    ASSERT_OK(seen);
    EXPECT_EQ(seen->out, "not there\nnot there\nnot there\n");
    ASSERT_OK((*one)->close(milliseconds(0)));
    ASSERT_OK(done(**two, acts({"args"})));
  });
}

}  // namespace
}  // namespace guard
