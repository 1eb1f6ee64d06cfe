// guard-init itself, as a plain supervisor, with system calls of its own that fail.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>

#include "runner/init_side/init_binary.h"
#include "runner/init_side/init_stream.h"
#include "runner/process/child_process.h"
#include "runner/process/subprocess.h"
#include "tests/support/runner/collected_tree.h"
#include "tests/support/runner/sandbox_fixture.h"

namespace guard {
namespace {

using testing::case_program;
using testing::KeepingSink;
using testing::processes_with;

class Init : public testing::SandboxFixture {
 protected:
  void SetUp() override {
    SandboxFixture::SetUp();
    auto path = init_binary_path();
    ASSERT_TRUE(path.has_value()) << path.error().to_string();
    init_ = path->string();
    ASSERT_EQ(::pipe2(life_line_, O_CLOEXEC), 0);
  }
  void TearDown() override {
    for (const int fd : life_line_) {
      if (fd >= 0) ::close(fd);
    }
    SandboxFixture::TearDown();
  }
  // Starts `argv` with the life line as its standard input and collects its framed output.
  Result<CollectedProcess> start(std::vector<std::string> argv) {
    ProcessSpec process;
    process.argv = std::move(argv);
    process.env = {{"PATH", "/usr/bin:/bin"}};
    process.descriptors = {{life_line_[0], 0}};
    process.deadline = Deadline::after(milliseconds(60'000));
    process.grace = milliseconds(100);
    return collect_process(process, 1 << 20, cancel_);
  }

  std::string init_;
  int life_line_[2] = {-1, -1};
};

// The key comes first on the life line; every frame is signed with it. Without it init says nothing at all.
TEST_F(Init, SignsItsFramesWithTheKeyThatItIsGiven) {
  const InitStream::TagKey key = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6};
  ASSERT_EQ(::write(life_line_[1], key.data(), key.size()), static_cast<ssize_t>(key.size()));
  auto ran = start({init_, "--key", "--", case_program("talks").string(), "7"});
  ASSERT_TRUE(ran.has_value()) << ran.error().to_string();
  InitStream stream(out_, err_, 1 << 20, ReportChannel::off);
  stream.expect_tags(key);
  const auto pushed = stream.push(std::span(ran->out.data(), ran->out.size()));
  ASSERT_TRUE(pushed.has_value()) << pushed.error().to_string();
  ASSERT_TRUE(stream.finish().has_value());
  EXPECT_EQ(stream.exit()->value, 7);
  EXPECT_NE(out_.text.find("stdin empty\n"), std::string::npos) << "the program must not find the key there";

  ASSERT_EQ(::write(life_line_[1], key.data(), 3), 3);
  ::close(std::exchange(life_line_[1], -1));
  ran = start({init_, "--key", "--", case_program("talks").string(), "7"});
  ASSERT_TRUE(ran.has_value()) << ran.error().to_string();
  EXPECT_TRUE(ran->out.empty());
  EXPECT_NE(ran->result.outcome.value, 0);
}

// Any of init's own calls may fail, each time it is made: init ends, leaves nothing behind, and never tells of an end
// that was not.
TEST_F(Init, TellsNoUntruthWhicheverOfItsCallsFails) {
  if (::access("/usr/bin/strace", X_OK) != 0) GTEST_SKIP() << "no strace here";
  const std::string marker = "marker-init-" + std::to_string(::getpid());
  int told = 0;
  int failed = 0;
  for (const char* call : {"prctl:error=EINVAL", "pipe2:error=EMFILE", "clone:error=EAGAIN", "prlimit64:error=EPERM",
           "signalfd4:error=EMFILE", "fcntl:error=EMFILE", "openat:error=ENOENT", "write:error=EPIPE",
           "poll:error=ENOMEM"}) {
    for (int when = 1; when <= 8; ++when) {
      const std::string inject = "inject=" + std::string(call) + ":when=" + std::to_string(when);
      auto ran = start({"strace", "-qq", "-o", "/dev/null", "-e", inject, init_, "--report", "--nofile", "256", "--",
          case_program("talks").string(), "7", marker});
      ASSERT_TRUE(ran.has_value()) << ran.error().to_string();
      ASSERT_NE(ran->result.outcome.kind, OutcomeKind::timed_out) << inject;
      InitStream stream(out_, err_, 1 << 20, ReportChannel::on);
      out_.text.clear();
      const auto pushed = stream.push(std::span(ran->out.data(), ran->out.size()));
      EXPECT_TRUE(pushed.has_value()) << inject;
      EXPECT_EQ(processes_with(marker), 0) << inject;
      const auto finished = stream.finish();
      if (!finished) {
        EXPECT_NE(ran->result.outcome.value, 0) << inject;
        ++failed;
      } else if (stream.exit()->kind == InitExit::Kind::exited) {
        EXPECT_EQ(stream.exit()->value, 7) << inject;
        EXPECT_NE(out_.text.find("stdin empty\n"), std::string::npos) << inject;
        ++told;
      } else {
        EXPECT_EQ(stream.exit()->kind, InitExit::Kind::init_failed) << inject;
        ++failed;
      }
    }
  }
  EXPECT_GT(failed, 20);
  EXPECT_GT(told, 5);
}

// What bubblewrap leaves to the stage behind it is done, all of it, or nothing is started.
TEST_F(Init, StartsNothingWhereTheSandboxCouldNotBeFinished) {
  if (::access("/usr/bin/strace", X_OK) != 0) GTEST_SKIP() << "no strace here";
  const std::vector<std::string> root_of_its_own = {
      "unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "--"};
  const auto run = [&](const std::vector<std::string>& tracer) -> std::optional<std::map<std::string, std::string>> {
    auto command = root_of_its_own;
    command.insert(command.end(), tracer.begin(), tracer.end());
    command.insert(command.end(),
        {init_, "--finish", "/proc/interrupts", "/proc/fs", "--", init_, "--filter", "--",
            case_program("talks").string(), "7"});
    auto ran = start(command);
    EXPECT_TRUE(ran.has_value());
    out_.text.clear();
    InitStream stream(out_, err_, 1 << 20, ReportChannel::off);
    EXPECT_TRUE(stream.push(std::span(ran->out.data(), ran->out.size())).has_value());
    if (!stream.finish() || stream.exit()->kind != InitExit::Kind::exited) return std::nullopt;
    EXPECT_NE(out_.text.find("stdin empty\n"), std::string::npos);
    return stream.hello();
  };
  const auto seen = run({});
  if (!seen) GTEST_SKIP() << "no user namespace here";
  EXPECT_EQ(seen->at("uid"), "1000");
  EXPECT_EQ(seen->at("cap_bnd"), "0000000000000000");
  EXPECT_EQ(seen->at("seccomp"), "2");
  const std::pair<const char*, int> calls[] = {{"mount", 4}, {"write", 3}, {"unshare", 1}, {"capset", 1}};
  for (const auto& [call, times] : calls) {
    for (int when = 1; when <= times; ++when) {
      const std::string inject = fmt::format("inject={}:error=EPERM:when={}", call, when);
      EXPECT_FALSE(run({"strace", "-qq", "-o", "/dev/null", "-e", inject})) << inject;
    }
  }
  EXPECT_TRUE(run({"strace", "-qq", "-o", "/dev/null", "-e", "inject=mount:error=EPERM:when=5"}));
}

// A file is handed out whole, or told to be unreadable, or there is no end of the stream.
TEST_F(Init, HandsOutNoHalfFileWhicheverOfItsCallsFails) {
  if (::access("/usr/bin/strace", X_OK) != 0) GTEST_SKIP() << "no strace here";
  const auto scratch = folder() / "scratch";
  std::filesystem::create_directories(scratch / "out");
  const std::map<std::string, std::string> files = {{"a", "text of a"}, {"out/b", std::string(100'000, 'b')}};
  for (const auto& [name, text] : files) std::ofstream(scratch / name) << text;
  const CollectRequest asked = collecting::collect_all(scratch);
  int whole = 0;
  int less = 0;
  for (const char* call : {"getdents64:error=EIO", "newfstatat:error=EIO", "fstatfs:error=EIO", "openat:error=EMFILE",
           "read:error=EIO", "read:retval=0", "write:error=EPIPE", "poll:error=ENOMEM"}) {
    for (int when = 1; when <= 12; ++when) {
      const std::string inject = "inject=" + std::string(call) + ":when=" + std::to_string(when);
      auto ran = start({"strace", "-qq", "-o", "/dev/null", "-e", inject, init_, "--collect", asked.folder,
          "--collect-files", "10", "--collect-bytes", "1000000", "--collect-file-bytes", "1000000", "--", "/bin/true"});
      ASSERT_TRUE(ran.has_value()) << ran.error().to_string();
      ASSERT_NE(ran->result.outcome.kind, OutcomeKind::timed_out) << inject;
      InitStream stream(out_, err_, 1 << 20, ReportChannel::off, asked);
      const auto pushed = stream.push(std::span(ran->out.data(), ran->out.size()));
      const bool finished = pushed && stream.finish().has_value();
      ExecResult result;
      stream.take_into(result);
      if (!finished || !result.collected) {
        ++less;
        continue;
      }
      for (const auto& file : result.collected->files) EXPECT_EQ(file.bytes, files.at(file.path)) << inject;
      const bool all = result.collected->files.size() == files.size();
      EXPECT_TRUE(all || result.collected->left_behind_count > 0) << inject;
      ++(all ? whole : less);
    }
  }
  EXPECT_GT(whole, 20);
  EXPECT_GT(less, 10);
}

// A reader that does not read must not cost init its life line.
TEST_F(Init, HeedsItsLifeLineWhileNobodyReads) {
  const std::string marker = "marker-unread-" + std::to_string(::getpid());
  int unread[2];
  ASSERT_EQ(::pipe2(unread, O_CLOEXEC), 0);
  ChildSpec child;
  child.argv = {init_, "--", case_program("floods").string(), "1000000000", marker};
  child.descriptors = {{life_line_[0], 0}, {unread[1], 1}};
  auto started = ChildProcess::start(child);
  ASSERT_TRUE(started.has_value()) << started.error().to_string();
  const Deadline give_up = Deadline::after(milliseconds(30'000));
  while (processes_with(marker) < 2 && !give_up.passed()) std::this_thread::sleep_for(milliseconds(5));
  ::close(std::exchange(life_line_[1], -1));
  EXPECT_NE(started->reap(), 0);
  EXPECT_EQ(processes_with(marker), 0);
  ::close(unread[0]);
  ::close(unread[1]);
}

TEST_F(Init, EndsByItsOwnClock) {
  auto ran = start({init_, "--deadline-ms", "2000", "--grace-ms", "1000", "--", case_program("ignores_term").string()});
  ASSERT_TRUE(ran.has_value());
  InitStream stream(out_, err_, 1 << 20, ReportChannel::off);
  ASSERT_TRUE(stream.push(std::span(ran->out.data(), ran->out.size())).has_value());
  ASSERT_TRUE(stream.finish().has_value());
  EXPECT_TRUE(stream.exit()->timed_out);
  EXPECT_EQ(stream.exit()->kind, InitExit::Kind::signaled);
  EXPECT_EQ(stream.exit()->value, SIGKILL);
  EXPECT_EQ(out_.text, "started\nTERM\n");
}

TEST_F(Init, CountsWhatWasLeftBehind) {
  auto ran = start({init_, "--", case_program("leaves_daemons").string()});
  ASSERT_TRUE(ran.has_value());
  InitStream stream(out_, err_, 1 << 20, ReportChannel::off);
  ASSERT_TRUE(stream.push(std::span(ran->out.data(), ran->out.size())).has_value());
  ASSERT_TRUE(stream.finish().has_value());
  EXPECT_EQ(stream.exit()->leftovers, 3u);
}

TEST_F(Init, RefusesOptionsItDoesNotKnow) {
  for (const std::vector<std::string>& options :
      {std::vector<std::string>{}, {"--"}, {"true"}, {"--nofile", "--", "true"}, {"--nofile", "-1", "--", "true"},
          {"--nofile", "1x", "--", "true"}, {"--unknown", "--", "true"}, {"--grace-ms"}}) {
    std::vector<std::string> argv = {init_};
    argv.insert(argv.end(), options.begin(), options.end());
    auto ran = start(argv);
    ASSERT_TRUE(ran.has_value());
    EXPECT_EQ(ran->result.outcome.value, 64);
    EXPECT_EQ(ran->out, "");
  }
}

TEST_F(Init, IsWrittenOutAgainWhenItWasTamperedWith) {
  EXPECT_GT(init_binary().size(), 10'000u);
  EXPECT_LT(init_binary().size(), 2'000'000u) << "guard carries it";
  std::filesystem::permissions(init_, std::filesystem::perms::owner_all);
  std::ofstream(init_, std::ios::app) << "more";
  auto again = init_binary_path();
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->string(), init_);
  EXPECT_EQ(*read_file(init_, 1 << 24), init_binary());
  struct stat found {};
  ASSERT_EQ(::stat(init_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0755u);

  std::filesystem::remove(init_);
  std::filesystem::create_symlink("/bin/true", init_);
  again = init_binary_path();
  ASSERT_TRUE(again.has_value());
  EXPECT_FALSE(std::filesystem::is_symlink(init_));
}

// A child has a copy of every descriptor until it executes, and what anybody has open for writing can't be executed.
TEST_F(Init, CanBeExecutedAtOnceWhateverElseIsBeingStarted) {
  const auto status_of = [](ChildSpec spec) {
    auto child = ChildProcess::start(spec);
    EXPECT_TRUE(child) << child.error().to_string();
    return child ? child->reap() : -1;
  };
  std::atomic<bool> done = false;
  std::thread other([&] {
    ChildSpec slow;
    slow.argv = {"/bin/true"};
    while (!done) {
      // As control groups under load: what enters them waits.
      Pipe pipe = make_pipe(ErrorCode::io_error).value();
      ASSERT_EQ(::fcntl(pipe.write.get(), F_SETPIPE_SZ, 4096), 4096);
      ASSERT_EQ(::write(pipe.write.get(), std::string(4096, 'x').data(), 4096), 4096);
      slow.join_cgroups = {pipe.write.get()};
      std::thread reader([&] {
        std::this_thread::sleep_for(milliseconds(20));
        std::string read(4096, ' ');
        EXPECT_EQ(::read(pipe.read.get(), read.data(), read.size()), 4096);
      });
      status_of(slow);
      reader.join();
    }
  });
  ChildSpec init;
  init.argv = {"/usr/bin/env", init_};  // which tries once, as bubblewrap
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    std::filesystem::remove(init_);
    EXPECT_TRUE(init_binary_path());
    EXPECT_EQ(WEXITSTATUS(status_of(init)), 64) << "round " << i;
  }
  done = true;
  other.join();
}

TEST_F(Init, GetsItsCommandFromTheSpec) {
  SandboxSpec wanted = spec({"program", "--nofile"});
  wanted.timeout = milliseconds(1000);
  wanted.grace = milliseconds(50);
  wanted.limits.open_files = 7;
  wanted.limits.file_bytes = 9;
  EXPECT_EQ(init_command("/i", wanted, {}),
      (std::vector<std::string>{"/i", "--nofile", "7", "--fsize", "9", "--deadline-ms", "6050", "--grace-ms", "50",
          "--", "program", "--nofile"}));
  wanted.report = ReportChannel::on;
  const auto command = init_command("/i", wanted, {.nproc = 12});
  EXPECT_NE(std::find(command.begin(), command.end(), "--report"), command.end());
  EXPECT_NE(std::find(command.begin(), command.end(), "--nproc"), command.end());
  // On the host nothing is filled: the program works in the staged folder itself.
  EXPECT_EQ(std::find(command.begin(), command.end(), "--fill"), command.end());
  const auto filled = init_command("/i", wanted, {.own_folders = true});
  const auto fill = std::find(filled.begin(), filled.end(), "--fill");
  ASSERT_LT(fill + 2, filled.end());
  EXPECT_EQ(*(fill + 1), "/app/scratch");
  EXPECT_EQ(*(fill + 2), "/.fill");
}

}  // namespace
}  // namespace guard
