// A folder that starts with copies of what was checked (init/filled_folder.h): whatever is done to one of them is told,
// in every sandbox.
#include <fmt/format.h>

#include "runner/init_side/init_binary.h"
#include "runner/init_side/init_stream.h"
#include "runner/process/subprocess.h"
#include "tests/support/runner/every_sandbox.h"

namespace guard {
namespace {

using testing::case_program;
using testing::Where;

constexpr std::string_view kFolder = "/app/scratch";

class FilledFolder : public testing::EverySandbox {
 protected:
  std::vector<std::filesystem::path> programs() const override { return {case_program("touches")}; }

  void SetUp() override {
    EverySandbox::SetUp();
    std::filesystem::create_directories(folder() / "staged" / "__snapshots__");
    std::ofstream(folder() / "staged" / "__snapshots__" / "a.snap") << "a stored snapshot\n";
    std::filesystem::create_symlink("given", folder() / "staged" / "link");
    std::filesystem::remove(folder() / "fill");
    testing::write_fill_file(folder() / "staged", folder() / "fill");
  }

  // What was told of each way, in order; "refused" where the sandbox lets nobody do it.
  std::map<std::string, std::string> told(const std::vector<std::string>& ways) {
    std::map<std::string, std::string> told;
    SandboxSpec wanted = spec({"touches", std::string(kFolder)});
    // Whatever was done before, the next program finds what was checked.
    for (const std::string& way : ways) {
      wanted.each.push_back(way);
      wanted.each.emplace_back("read");
    }
    wanted.env = {{"PATH", "/bin"}};
    if (GetParam() == Where::runsc) wanted.limits.pids = 256;
    auto result = run(wanted);
    EXPECT_TRUE(result) << result.error().to_string();
    if (!result) return told;
    std::vector<ExecResult> all = std::move(result->earlier);
    all.push_back(std::move(*result));
    EXPECT_EQ(all.size(), wanted.each.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Outcome& outcome = all[i].outcome;
      EXPECT_EQ(outcome.kind, OutcomeKind::exited) << wanted.each[i];
      EXPECT_TRUE(outcome.value == 0 || (i % 2 == 0 && outcome.value == 1))
          << wanted.each[i] << " exited with " << outcome.value << "\n"
          << err_.text;
      if (i % 2 == 0) {
        told[wanted.each[i]] = outcome.value == 1 ? "refused" : all[i].touched;
      } else {
        EXPECT_EQ(all[i].touched, "") << "read after " << wanted.each[i - 1];
      }
    }
    return told;
  }
};

INSTANTIATE_TEST_SUITE_P(In, FilledFolder, testing::everywhere(), testing::name_of);

TEST_P(FilledFolder, TellsNothingOfWhatLeavesTheCopiesAsTheyAre) {
  each([this] {
    for (const auto& [way, path] : told({"nothing", "read", "try-to-write", "make", "make", "as-bun", "as-bun",
             "as-bun-and-others-read", "new-snapshot"})) {
      EXPECT_EQ(path, "") << way;
    }
  });
}

TEST_P(FilledFolder, TellsOfEveryTouch) {
  each([this] {
    const std::map<std::string, std::string> expected = {
        {"chmod-and-back", "given"},
        {"chmod-to-the-same", "given"},
        {"write", "given"},
        {"truncate", "nested/given"},
        {"mmap", "given"},
        {"rename-and-back", "given"},
        {"rename-over", "given"},
        {"exchange", "given"},
        {"hard-link", "given"},
        {"write-through-a-hard-link", "given"},
        {"write-through-proc", "given"},
        {"unlink-and-write-again", "given"},
        {"remove", "nested/given"},
        {"remove-folder", "nested/given"},
        {"rename-folder-and-back", "nested"},
        {"exchange-folders", "nested"},
        {"put-a-link-where-a-folder-was", "nested"},
        {"close-folder-and-open", "nested"},
        {"close-the-folder-itself-and-open", ""},
        {"aim-link-elsewhere", "link"},
        {"move-link", "link"},
        {"set-times", "given"},
        {"give-it-to-ourselves", "given"},
        {"set-attribute", "given"},
        {"by-a-child-that-lives-on", "given"},
        {"hide-it-in-a-flood", "*"},
        {"snapshot-changed", "__snapshots__/a.snap"},
        {"snapshot-changed-by-nobody-else", "__snapshots__/a.snap"},
        {"snapshot-longer", "__snapshots__/a.snap"},
        {"snapshot-shorter", ""},
        {"snapshot-mapped-and-put-back", "__snapshots__/a.snap"},
        {"snapshot-written-and-put-back", "__snapshots__/a.snap"},
        {"snapshot-opened-twice", "__snapshots__/a.snap"},
        {"snapshot-opened-and-hidden", ""},
        {"snapshot-replaced", "__snapshots__/a.snap"},
        {"snapshot-by-another-name", "__snapshots__/a.snap"},
    };
    std::vector<std::string> ways;
    for (const auto& [way, path] : expected) ways.push_back(way);
    for (const auto& [way, path] : told(ways)) {
      if (path == "refused") continue;
      if (expected.at(way) == "*") {
        EXPECT_NE(path, "") << way;
      } else {
        EXPECT_EQ(path, std::string(kFolder) + "/" + expected.at(way)) << way;
      }
    }
  });
}

TEST_P(FilledFolder, KeepsInitAndItsMountsOutOfReach) {
  each([this] {
    for (const auto& [way, path] : told({"mount", "look-into-init"})) EXPECT_EQ(path, "refused") << way;
  });
}

// ---- init itself, as a plain supervisor ----

class FillingInit : public testing::SandboxFixture {
 protected:
  void SetUp() override {
    SandboxFixture::SetUp();
    auto path = init_binary_path();
    ASSERT_TRUE(path.has_value()) << path.error().to_string();
    init_ = path->string();
    for (const auto& made : {source(), filled()}) std::filesystem::create_directories(made);
  }

  void TearDown() override {
    std::error_code ignored;
    for (std::filesystem::recursive_directory_iterator entry(filled(), ignored), end; !ignored && entry != end;
         entry.increment(ignored)) {
      if (entry->is_directory(ignored))
        std::filesystem::permissions(entry->path(), std::filesystem::perms::owner_all, ignored);
    }
    SandboxFixture::TearDown();
  }

  std::filesystem::path source() const { return folder() / "source"; }
  std::filesystem::path filled() const { return folder() / "filled"; }

  void write(const std::filesystem::path& path, std::string_view text) const {
    std::filesystem::create_directories((source() / path).parent_path());
    std::ofstream(source() / path) << text;
  }

  // One program for each way, after `before` (strace and the like). An error is init's.
  Result<ExecResult> run(std::vector<std::string> before, std::vector<std::string> ways) {
    std::filesystem::remove(folder() / "fill");
    testing::write_fill_file(source(), folder() / "fill");
    std::vector<std::string> argv = std::move(before);
    for (std::string word : {init_, std::string("--no-life-line"), std::string("--each"), std::to_string(ways.size()),
             std::string("--fill"), filled().string(), (folder() / "fill").string(), std::string("--collect"),
             filled().string(), std::string("--"), case_program("touches").string(), filled().string()}) {
      argv.push_back(std::move(word));
    }
    argv.insert(argv.end(), ways.begin(), ways.end());
    ProcessSpec process;
    process.argv = std::move(argv);
    process.env = {{"PATH", "/usr/bin:/bin"}};
    process.deadline = Deadline::after(milliseconds(120'000));
    GUARD_TRY_ASSIGN(const CollectedProcess ran, collect_process(process, 16 << 20, cancel_));
    InitStream stream(out_, err_, 1 << 20, ReportChannel::off, CollectRequest{filled().string(), 0, 0, 0});
    stream.expect_programs(ways.size(), [] {});
    GUARD_TRY(stream.push(std::span(ran.out.data(), ran.out.size())));
    GUARD_TRY(stream.finish());
    ExecResult result;
    stream.take_into(result);
    GUARD_TRY_ASSIGN(result.outcome, outcome_of(*stream.exit(), TermSent::no, milliseconds(0)));
    return result;
  }

  std::string init_;
};

// Names, kinds, targets and contents below a folder; what could be written there is not a copy.
std::map<std::string, std::string> listed(const std::filesystem::path& top) {
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
    const std::string name = entry.path().lexically_relative(top).native();
    if (entry.is_symlink()) {
      found[name] = "-> " + std::filesystem::read_symlink(entry.path()).native();
    } else if (entry.is_directory()) {
      found[name] = "folder";
    } else {
      auto bytes = read_file(entry.path(), 1 << 24, FollowLinks::no);
      const bool runs =
          (entry.status().permissions() & std::filesystem::perms::owner_exec) != std::filesystem::perms::none;
      found[name] = bytes ? (runs ? "x " : "- ") + *bytes : bytes.error().to_string();
    }
  }
  return found;
}

TEST_F(FillingInit, CopiesWhatAProjectMayHold) {
  write("empty", "");
  write("given", "as given\n");
  write("new\nline", "a");
  write("\xe2\x98\x83 and \xff", "b");
  write(std::string(255, 'n'), "c");
  write("large", std::string((1 << 20) + 7, 'x'));
  write("run.sh", "#!/bin/sh\n");
  ::chmod((source() / "run.sh").c_str(), 0755);
  std::filesystem::path deep;
  for (int i = 0; i < 64; ++i) deep /= "d" + std::to_string(i);
  write(deep / "file", "deep");
  for (const auto& [name, target] : std::map<std::string, std::string>{{"inside", "given"}, {"up", "d0/.."},
           {"outside", "/etc/passwd"}, {"dangling", "nowhere"}, {"loop", "loop"}, {"d0/loops", "../d0"}}) {
    std::filesystem::create_symlink(target, source() / name);
  }
  const auto ran = run({}, {"nothing", "nothing"});
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_EQ(ran->touched, "");
  EXPECT_EQ(listed(filled()), listed(source()));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(filled())) {
    if (!entry.is_symlink() && entry.is_regular_file()) {
      EXPECT_EQ(entry.status().permissions() & std::filesystem::perms(0222), std::filesystem::perms::none)
          << entry.path();
    }
  }
}

// The last of them is as well watched as the first.
TEST_F(FillingInit, WatchesManyFiles) {
  for (int i = 0; i < 20'000; ++i) write(fmt::format("f{}/{}", i % 100, i), "x");
  write("given", "as given\n");
  const auto ran = run({}, {"make", "chmod-and-back"});
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_EQ(ran->earlier.front().touched, "");
  EXPECT_EQ(ran->touched, filled().string() + "/given");
}

// What can't be watched does not run, and whoever may change it learns how.
TEST_F(FillingInit, SaysWhichLimitOfTheMachineIsReached) {
  for (int i = 0; i < 20; ++i) write(std::to_string(i), "x");
  for (const auto& [limit, sysctl] : {std::pair("max_inotify_watches", "fs.inotify.max_user_watches"),
           std::pair("max_inotify_instances", "fs.inotify.max_user_instances")}) {
    const auto ran = run({"unshare", "--user", "--map-root-user", "sh", "-c",
                             fmt::format("echo 1 >/proc/sys/user/{} && exec \"$@\"", limit), "sh"},
        {"nothing"});
    ASSERT_FALSE(ran) << limit;
    EXPECT_EQ(ran.error().code(), ErrorCode::environment_unavailable) << ran.error().to_string();
    EXPECT_NE(ran.error().to_string().find(std::string("sysctl ") + sysctl), std::string::npos)
        << ran.error().to_string();
    std::filesystem::remove_all(filled());
    std::filesystem::create_directories(filled());
  }
}

// Whichever call of filling, looking, emptying and restoring fails: a touch is told or there is no end that says so,
// and no program starts with anything else than what was checked.
TEST_F(FillingInit, HidesNoTouchWhicheverOfItsCallsFails) {
  if (::access("/usr/bin/strace", X_OK) != 0) GTEST_SKIP() << "no strace here";
  write("given", "as given\n");
  write("nested/given", "as given, too\n");
  write("__snapshots__/a.snap", "a stored snapshot\n");
  std::filesystem::create_symlink("given", source() / "link");
  int failed = 0;
  int told = 0;
  for (const char* call : {"inotify_init1:error=EMFILE", "inotify_add_watch:error=ENOSPC", "getdents64:error=EIO",
           "mmap:error=ENOMEM", "fstat:error=EIO", "newfstatat:error=EIO", "openat:error=EMFILE", "read:error=EIO",
           "read:retval=0", "write:error=ENOSPC", "mkdir:error=ENOSPC", "symlink:error=ENOSPC", "fchdir:error=EACCES",
           "fcntl:error=EMFILE", "unlinkat:error=EIO", "fchmod:error=EPERM", "open:error=EMFILE"}) {
    for (int when = 1; when <= 6; ++when) {
      std::filesystem::remove_all(filled());
      std::filesystem::create_directories(filled());
      const std::string inject = "inject=" + std::string(call) + ":when=" + std::to_string(when);
      err_.text.clear();
      const auto ran = run({"strace", "-qq", "-o", "/dev/null", "-e", inject},
          {"make", "chmod-and-back", "snapshot-mapped-and-put-back", "read"});
      if (!ran) {
        ++failed;
        continue;
      }
      ++told;
      ASSERT_EQ(ran->earlier.size(), 3u) << inject;
      EXPECT_NE(ran->earlier[1].touched, "") << inject;
      EXPECT_NE(ran->earlier[2].touched, "") << inject;
      for (const ExecResult* one : {&ran->earlier[0], &*ran}) {
        EXPECT_TRUE(one->outcome.value == 0 || !one->touched.empty()) << inject << "\n" << err_.text;
      }
    }
  }
  EXPECT_GT(failed, 40);
  EXPECT_GT(told, 15);
}

}  // namespace
}  // namespace guard
