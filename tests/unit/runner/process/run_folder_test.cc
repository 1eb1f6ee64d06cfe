#include "runner/process/run_folder.h"

#include <signal.h>

#include "tests/support/runner/sandbox_fixture.h"

namespace guard {
namespace {

using testing::As;
using testing::run_as;

class RunFolderTest : public testing::SandboxFixture, public ::testing::WithParamInterface<As> {
 protected:
  static Result<void> nothing(const std::string&) { return ok(); }
};

INSTANTIATE_TEST_SUITE_P(As, RunFolderTest, ::testing::Values(As::ourselves, As::ordinary_user),
    [](const auto& tested) { return tested.param == As::ourselves ? "Ourselves" : "OrdinaryUser"; });

TEST_P(RunFolderTest, LivesAsLongAsItsOwner) {
  run_as(GetParam(), [] {
    const mode_t before = ::umask(077);
    std::string id;
    std::filesystem::path path;
    {
      auto made = RunFolder::create();
      ASSERT_TRUE(made.has_value()) << made.error().to_string();
      RunFolder folder = std::move(*made);
      id = folder.run_id();
      path = folder.path();
      EXPECT_EQ(path.filename(), id);
      EXPECT_TRUE(run_is_alive(id));
      struct stat found {};
      ASSERT_EQ(::stat(path.c_str(), &found), 0);
      // The sandbox's user has to get in, whatever our umask.
      EXPECT_EQ(found.st_mode & 0777, 0755u);
      EXPECT_TRUE(sweep_dead_runs(nothing).removed.empty());
      EXPECT_TRUE(std::filesystem::exists(path));
    }
    EXPECT_FALSE(run_is_alive(id));
    EXPECT_FALSE(std::filesystem::exists(path));
    ::umask(before);
  });
}

TEST_P(RunFolderTest, IsSweptWhenItsOwnerWasKilled) {
  run_as(GetParam(), [] {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t owner = ::fork();
    if (owner == 0) {
      auto made = RunFolder::create();
      if (!made) ::_exit(1);
      std::ofstream(made->path() / "staged") << "x";
      const auto ignored = ::write(ends[1], made->run_id().data(), made->run_id().size());
      static_cast<void>(ignored);
      for (;;) ::pause();
    }
    char text[65] = {};
    ASSERT_GT(::read(ends[0], text, 64), 0);
    const std::string id = text;
    EXPECT_TRUE(run_is_alive(id));
    EXPECT_TRUE(sweep_dead_runs(nothing).removed.empty());
    ::kill(owner, SIGKILL);
    ::waitpid(owner, nullptr, 0);
    EXPECT_FALSE(run_is_alive(id));

    // A leftover that can't be removed keeps the folder for the next sweep.
    SweepResult result =
        sweep_dead_runs([](const std::string&) -> Result<void> { return Error(ErrorCode::io_error, "not now"); });
    EXPECT_TRUE(result.removed.empty());
    ASSERT_EQ(result.failed.size(), 1u);
    std::vector<std::string> asked;
    const auto ask = [&asked](const std::string& run_id) -> Result<void> {
      asked.push_back(run_id);
      return ok();
    };
    EXPECT_EQ(sweep_dead_runs(ask, SweepMode::list).removed, std::vector<std::string>{id});
    EXPECT_EQ(asked, std::vector<std::string>{});
    result = sweep_dead_runs(ask);
    EXPECT_EQ(asked, std::vector<std::string>{id});
    EXPECT_EQ(result.removed, std::vector<std::string>{id});
    EXPECT_TRUE(sweep_dead_runs(nothing).removed.empty());
    ::close(ends[0]);
    ::close(ends[1]);
  });
}

TEST_F(RunFolderTest, SweepTouchesNothingThatIsNoRun) {
  std::filesystem::create_directories(cache() / "runs" / "Not A Run");
  std::filesystem::create_directories(cache() / "runs" / ".r00");  // just being made by somebody
  const SweepResult result = sweep_dead_runs(nothing);
  EXPECT_TRUE(result.removed.empty());
  EXPECT_TRUE(std::filesystem::exists(cache() / "runs" / "Not A Run"));
  EXPECT_TRUE(std::filesystem::exists(cache() / "runs" / ".r00"));
}

TEST_F(RunFolderTest, SweepsNothingWhereNothingIs) {
  const SweepResult result = sweep_dead_runs(nothing);
  EXPECT_TRUE(result.removed.empty());
  EXPECT_TRUE(result.failed.empty());
}

TEST_F(RunFolderTest, MovesWithItsLock) {
  auto first = RunFolder::create();
  auto second = RunFolder::create();
  ASSERT_TRUE(first.has_value() && second.has_value());
  const auto kept = second->path();
  const auto gone = first->path();
  *first = std::move(*second);
  EXPECT_EQ(first->path(), kept);
  EXPECT_TRUE(std::filesystem::exists(kept));
  {
    const RunFolder last = std::move(*second);  // holds the other one now
    EXPECT_EQ(last.path(), gone);
  }
  EXPECT_FALSE(std::filesystem::exists(gone));
}

}  // namespace
}  // namespace guard
