// `guard nightly install`: which files it writes where, and which it leaves alone. Nothing is started by it, and
// nothing by these tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/program/git_repository.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kPlan =
    "generator = [\"true\"]\n[budget]\ntime = 3600\n[[task]]\nid = \"adds\"\nprompt = \"Write a test.\"\n";

class NightlyInstall : public ::testing::Test {
 protected:
  void SetUp() override { repository_.write("nightly.toml", kPlan); }

  ProgramResult install(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"nightly", "install", "nightly.toml", "--user", "--state", state()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return repository_.guard(arguments);
  }
  std::string state() const { return (repository_.home() / "state").native(); }
  fs::path folder() const { return repository_.home() / ".config/systemd/user"; }
  std::vector<fs::path> units() const {
    std::vector<fs::path> found;
    if (!fs::exists(folder())) return found;
    for (const auto& entry : fs::directory_iterator(folder())) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }
  static std::string text(const fs::path& path) { return read_file(path, 1u << 20).value_or(""); }
  Repository repository_;
};

TEST_F(NightlyInstall, WritesFourUnitsAndSaysWhatToDoNext) {
  const auto done = install({"--at", "23:30", "--format", "json"});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const auto document = done.document();
  ASSERT_EQ(document["files"].size(), 4u);
  EXPECT_EQ(document["manager"], "user");
  for (const auto& file : document["files"]) {
    EXPECT_EQ(file["state"], "written");
    EXPECT_THAT(text(file["path"].get<std::string>()), HasSubstr("# Written by `guard nightly install`.\n"));
  }
  const std::string service = text(document["files"][0]["path"].get<std::string>());
  EXPECT_THAT(service,
      HasSubstr(
          "\"nightly\" \"run\" \"--resume\" \"--project\" \"" + fs::canonical(repository_.path()).native() + "\""));
  EXPECT_THAT(service, HasSubstr(state()));
  EXPECT_THAT(text(document["files"][1]["path"].get<std::string>()), HasSubstr("OnCalendar=*-*-* 23:30:00\n"));
  // The plan's hour, and three more.
  EXPECT_THAT(text(document["files"][3]["path"].get<std::string>()), HasSubstr("OnCalendar=*-*-* 03:30:00\n"));
  EXPECT_EQ(document["next"][0], "systemctl --user daemon-reload");
  EXPECT_THAT(document["next"].dump(), HasSubstr("enable --now"));
  EXPECT_THAT(document["next"].dump(), HasSubstr("enable-linger"));
  EXPECT_EQ(document["cron"].size(), 2u);
  EXPECT_TRUE(fs::is_directory(state())) << "a unit does not start where a folder that it names is missing";
}

TEST_F(NightlyInstall, WritesTheSameTwiceAndItsOwnAnew) {
  ASSERT_EQ(install().exit_status, 0);
  const auto again = install();
  EXPECT_EQ(again.exit_status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("unchanged: "));
  EXPECT_THAT(again.out, Not(HasSubstr("written: ")));
  const auto later = install({"--at", "03:00"});
  EXPECT_EQ(later.exit_status, 0) << later.err;
  EXPECT_THAT(later.out, HasSubstr("written: "));
  EXPECT_EQ(units().size(), 4u);
}

TEST_F(NightlyInstall, NeverWritesOverWhatIsNotGuards) {
  ASSERT_EQ(install().exit_status, 0);
  const auto all = units();
  ASSERT_EQ(all.size(), 4u);
  // In the place of the last one that is written: nothing is written before all are looked at.
  const fs::path last = all.back();
  for (const fs::path& path : all) fs::remove(path);
  repository_.must("printf '[Timer]\\n' > '" + last.native() + "'");
  auto done = install();
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_THAT(done.err, HasSubstr("not guard's"));
  EXPECT_EQ(text(last), "[Timer]\n");
  EXPECT_EQ(units().size(), 1u);
  // `systemctl mask` makes such a link.
  fs::remove(last);
  fs::create_symlink("/dev/null", last);
  done = install();
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_TRUE(fs::is_symlink(last));
  EXPECT_EQ(units().size(), 1u);
}

TEST_F(NightlyInstall, WritesNothingForAPlanThatDoesNotHold) {
  repository_.write("nightly.toml", "[[task]]\nid = \"adds\"\n");
  const auto done = install();
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_THAT(done.err, HasSubstr("generator"));
  EXPECT_TRUE(units().empty());
  EXPECT_FALSE(fs::exists(state()));
}

TEST_F(NightlyInstall, LeavesTheWholeMachineToRoot) {
  ProgramCall call;
  call.arguments = {"nightly", "install", "nightly.toml"};
  call.folder = repository_.path();
  call.ordinary_user = true;
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be somebody else";
  const auto done = Project().guard(call);
  EXPECT_NE(done.exit_status, 0);
  EXPECT_THAT(done.err, HasSubstr("--user"));
}

// What is still switched on would be started by what is left of it; what a person put there stays.
TEST_F(NightlyInstall, UninstallTakesItsOwnUnitsAway) {
  ASSERT_EQ(install().exit_status, 0);
  ASSERT_EQ(units().size(), 4u);
  repository_.write("nightly.toml", "");  // the plan may be gone
  const fs::path wants = folder() / "timers.target.wants";
  fs::create_directories(wants);
  const std::string timer = [&] {
    for (const auto& unit : units()) {
      if (unit.extension() == ".timer") return unit.filename().string();
    }
    return std::string();
  }();
  fs::create_symlink(folder() / timer, wants / timer);
  const auto uninstall = [&] { return repository_.guard({"nightly", "uninstall", "--user", "--state", state()}); };
  const auto enabled = uninstall();
  EXPECT_EQ(enabled.exit_status, 2);
  EXPECT_THAT(enabled.err, HasSubstr("systemctl --user disable --now " + timer));
  EXPECT_TRUE(fs::exists(folder() / timer));
  fs::remove_all(wants);
  const auto done = uninstall();
  EXPECT_EQ(done.exit_status, 0) << done.err;
  EXPECT_TRUE(units().empty());
  EXPECT_THAT(done.out, HasSubstr("daemon-reload"));
  EXPECT_THAT(uninstall().out, HasSubstr("no units of guard"));
  // A file of that name that is somebody else's.
  std::ofstream(folder() / timer) << "[Timer]\n";
  EXPECT_EQ(uninstall().exit_status, 2);
  EXPECT_TRUE(fs::exists(folder() / timer));
}

}  // namespace
}  // namespace guard::testing
