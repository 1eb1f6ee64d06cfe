#include "runner/sandbox/cgroup.h"

#include "tests/support/runner/sandbox_fixture.h"

namespace guard {
namespace {

using Paths = std::vector<std::filesystem::path>;

TEST(CgroupPlaces, FindsVersionOneByController) {
  const auto places = cgroup_places("9:name=systemd:/\n4:memory:/mine/here\n3:pids:/\n1:cpu,cpuacct:/c\n0::/\n",
      "30 24 0:26 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory\n"
      "31 24 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
      "32 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
      "33 24 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places.at("memory").version, CgroupVersion::v1);
  EXPECT_EQ(places.at("memory").parents, (Paths{"/sys/fs/cgroup/memory/mine/here", "/sys/fs/cgroup/memory"}));
  EXPECT_EQ(places.at("pids").parents, (Paths{"/sys/fs/cgroup/pids"}));
  EXPECT_EQ(places.at("cpu").parents, (Paths{"/sys/fs/cgroup/cpu,cpuacct/c", "/sys/fs/cgroup/cpu,cpuacct"}));
}

TEST(CgroupPlaces, FindsVersionTwoBesideUsAndAbove) {
  const auto places = cgroup_places("0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope\n",
      "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n");
  ASSERT_EQ(places.size(), 3u);
  for (const char* controller : {"memory", "pids", "cpu"}) {
    EXPECT_EQ(places.at(controller).version, CgroupVersion::v2);
    EXPECT_EQ(places.at(controller).parents,
        (Paths{"/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope",
            "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice", "/sys/fs/cgroup"}));
  }
}

// In a container the mount shows the container's part of the hierarchy alone.
TEST(CgroupPlaces, UnderstandsAMountOfAPart) {
  const auto places = cgroup_places(
      "4:memory:/docker/abc/inner\n", "30 24 0:26 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  EXPECT_EQ(places.at("memory").parents.front(), "/sys/fs/cgroup/memory/inner");
}

TEST(CgroupPlaces, MakesNothingOfNonsense) {
  EXPECT_TRUE(cgroup_places("", "").empty());
  EXPECT_TRUE(cgroup_places("memory", "1 2 3 - cgroup").empty());
  EXPECT_TRUE(cgroup_places("4:memory:/a\n", "30 24 0:26 / /mnt rw - tmpfs tmpfs rw,memory\n").empty());
}

class RunCgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [controller, place] : cgroup_places_here()) {
      for (const auto& parent : place.parents) {
        if (::access(parent.c_str(), W_OK) == 0) writable_ = true;
      }
    }
    if (!writable_) GTEST_SKIP() << "no control group may be made here";
  }
  bool writable_ = false;
};

TEST_F(RunCgroupTest, HoldsKillsAndRemoves) {
  const std::string id = "cgroup-test-" + std::to_string(::getpid());
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  {
    const RunCgroup group = RunCgroup::create(id, Limits{}, cgroup_places_here());
    EXPECT_TRUE(group.holds("memory"));
    EXPECT_TRUE(group.holds("pids"));
    EXPECT_FALSE(group.killed_for_memory());
    EXPECT_FALSE(group.hit_pids_limit());
    for (const int fd : group.join_descriptors()) {
      const std::string text = std::to_string(child);
      EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    // Nobody can take over the groups of a run that lives.
    const RunCgroup second = RunCgroup::create(id, Limits{}, cgroup_places_here());
    EXPECT_FALSE(second.holds("memory"));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (const auto& [controller, place] : cgroup_places_here()) {
    for (const auto& parent : place.parents) EXPECT_FALSE(std::filesystem::exists(parent / ("guard-" + id)));
  }
}

TEST_F(RunCgroupTest, SweepsWhatADeadRunLeft) {
  const std::string id = "cgroup-left-" + std::to_string(::getpid());
  const pid_t owner = ::fork();
  if (owner == 0) {
    const RunCgroup group = RunCgroup::create(id, Limits{}, cgroup_places_here());
    ::_exit(group.holds("memory") ? 0 : 1);  // without its destructor
  }
  int status = 0;
  ASSERT_EQ(::waitpid(owner, &status, 0), owner);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(remove_cgroups_of(id, cgroup_places_here()).has_value());
  EXPECT_TRUE(remove_cgroups_of(id, cgroup_places_here()).has_value());
  for (const auto& [controller, place] : cgroup_places_here()) {
    for (const auto& parent : place.parents) EXPECT_FALSE(std::filesystem::exists(parent / ("guard-" + id)));
  }
}

// The guard that sweeps may have been started elsewhere than the one that died.
TEST_F(RunCgroupTest, SweepsGroupsThatLieBesideItsOwnPlace) {
  const std::string id = "cgroup-beside-" + std::to_string(::getpid());
  for (const auto& [controller, place] : cgroup_places_here()) {
    const auto elsewhere = place.parents.back() / ("elsewhere-" + id);
    if (!std::filesystem::create_directories(elsewhere / ("guard-" + id))) continue;
    EXPECT_TRUE(remove_cgroups_of(id, cgroup_places_here()).has_value());
    EXPECT_FALSE(std::filesystem::exists(elsewhere / ("guard-" + id))) << controller;
    EXPECT_EQ(::rmdir(elsewhere.c_str()), 0);
  }
}

}  // namespace
}  // namespace guard
