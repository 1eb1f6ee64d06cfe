#include "runner/package_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <optional>
#include <string>

#include "common/file_io.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

class PackageTree : public ::testing::Test {
 protected:
  void SetUp() override {
    auto temp = TempDir::create();
    ASSERT_TRUE(temp);
    temp_.emplace(std::move(*temp));
    from_ = temp_->path() / "install" / "node_modules";
    to_ = temp_->path() / "copy";
    ASSERT_TRUE(make_folders(from_ / "a" / "bin"));
    ASSERT_TRUE(make_folders(from_ / ".bin"));
    ASSERT_TRUE(write_file_atomically(from_ / "a" / "index.js", "module.exports = 1\n"));
    ASSERT_TRUE(write_file_atomically(from_ / "a" / "bin" / "a.js", "#!/usr/bin/env bun\n", 0755));
    ASSERT_TRUE(write_file_atomically(temp_->path() / "install" / "outside", "x"));
  }

  Result<void> copy(PackageTreeLimits limits = {}) { return copy_package_tree(from_, to_, limits, cancel_); }

  void expect_refused() {
    const auto copied = copy();
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code(), ErrorCode::dependency_unsatisfied) << copied.error().to_string();
  }

  std::optional<TempDir> temp_;
  fs::path from_;
  fs::path to_;
  CancelToken cancel_;
};

TEST_F(PackageTree, CopiesFilesFoldersAndInnerLinks) {
  fs::create_symlink("../a/bin/a.js", from_ / ".bin" / "a");
  fs::create_symlink("a", from_ / "same");
  auto copied = copy();
  ASSERT_TRUE(copied) << copied.error().to_string();
  EXPECT_EQ(*read_file(to_ / "a" / "index.js", 100), "module.exports = 1\n");
  EXPECT_EQ(fs::read_symlink(to_ / ".bin" / "a"), "../a/bin/a.js");
  EXPECT_EQ(*read_file(to_ / "same" / "index.js", 100), "module.exports = 1\n");
}

TEST_F(PackageTree, MakesModesPlain) {
  ::chmod((from_ / "a" / "bin" / "a.js").c_str(), 06711);
  ::chmod((from_ / "a" / "index.js").c_str(), 0600);
  ::chmod((from_ / "a").c_str(), 0700);
  ASSERT_TRUE(copy());
  struct stat status {};
  ASSERT_EQ(::stat((to_ / "a" / "bin" / "a.js").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0755u);
  EXPECT_EQ(status.st_mtim.tv_sec, 0);
  ASSERT_EQ(::stat((to_ / "a" / "index.js").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0644u);
  ASSERT_EQ(::stat((to_ / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0755u);
  EXPECT_EQ(status.st_mtim.tv_sec, 0);
}

TEST_F(PackageTree, RefusesLinksToAbsolutePaths) {
  fs::create_symlink("/etc/passwd", from_ / "a" / "link");
  expect_refused();
}

// Even into itself: the copy would then point back at the original.
TEST_F(PackageTree, RefusesAbsoluteLinksIntoItself) {
  fs::create_symlink(from_ / "a", from_ / "b");
  expect_refused();
}

TEST_F(PackageTree, RefusesLinksThatLeadOut) {
  fs::create_symlink("../../outside", from_ / "a" / "link");
  expect_refused();
}

// Out and in again by name: in the copy the folder has another name.
TEST_F(PackageTree, RefusesLinksThatLeaveOnTheirWay) {
  fs::create_symlink("../../node_modules/a/index.js", from_ / "a" / "link");
  expect_refused();
}

// By its text the second link stays inside; the first one, which it passes, moves it up.
TEST_F(PackageTree, RefusesLinksThatLeadOutThroughOtherLinks) {
  ASSERT_TRUE(make_folders(from_ / "x" / "y"));
  fs::create_symlink("..", from_ / "x" / "y" / "up");
  fs::create_symlink("up/../../outside", from_ / "x" / "y" / "link");
  expect_refused();
}

TEST_F(PackageTree, RefusesLinksThatLeadNowhereOrInCircles) {
  fs::create_symlink("missing", from_ / "a" / "link");
  expect_refused();
  fs::remove(from_ / "a" / "link");
  ASSERT_TRUE(remove_tree(to_));
  fs::create_symlink("link", from_ / "a" / "link");
  expect_refused();
}

TEST_F(PackageTree, RefusesPipesAndSockets) {
  ASSERT_EQ(::mkfifo((from_ / "a" / "pipe").c_str(), 0644), 0);
  expect_refused();
}

TEST_F(PackageTree, EndsAtItsLimits) {
  PackageTreeLimits few;
  few.entries_max = 3;
  EXPECT_FALSE(copy(few));
  ASSERT_TRUE(remove_tree(to_));
  PackageTreeLimits small;
  small.bytes_max = 10;
  EXPECT_FALSE(copy(small));
  ASSERT_TRUE(remove_tree(to_));
  fs::path deep = from_;
  for (int level = 0; level < 200; ++level) deep /= "d";
  ASSERT_TRUE(make_folders(deep));
  expect_refused();
}

TEST_F(PackageTree, StopsWhenCancelled) {
  cancel_.cancel();
  const auto copied = copy();
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), ErrorCode::cancelled);
}

}  // namespace
}  // namespace guard
