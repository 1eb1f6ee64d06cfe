#include "runner/image/root_folder.h"

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
    trees_ = {temp_->path() / "install", {""}, {"", "packages/a"}};
    from_ = trees_.folder / "node_modules";
    ASSERT_TRUE(make_folders(temp_->path() / "copy"));
    to_ = temp_->path() / "copy" / "node_modules";
    ASSERT_TRUE(make_folders(from_ / "a" / "bin"));
    ASSERT_TRUE(make_folders(from_ / ".bin"));
    ASSERT_TRUE(write_file_atomically(from_ / "a" / "index.js", "module.exports = 1\n"));
    ASSERT_TRUE(write_file_atomically(from_ / "a" / "bin" / "a.js", "#!/usr/bin/env bun\n", 0755));
    ASSERT_TRUE(write_file_atomically(temp_->path() / "install" / "outside", "x"));
  }

  Result<void> copy(PackageTreeLimits limits = {}) {
    return copy_package_trees(trees_, temp_->path() / "copy", "/app", limits, cancel_);
  }

  void expect_refused() {
    const auto copied = copy();
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code(), ErrorCode::dependency_unsatisfied) << copied.error().to_string();
  }

  std::optional<TempDir> temp_;
  InstalledTrees trees_;
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

TEST_F(PackageTree, RefusesLinksThatLeadOut) {
  fs::create_symlink("../../outside", from_ / "a" / "link");
  expect_refused();
}

// Absolute, or out and in again by name: the copy leads into the copy, not back to what it was made from.
TEST_F(PackageTree, WritesLinksAnewFromWhereTheyLead) {
  fs::create_symlink(fs::canonical(from_) / "a", from_ / "b");
  fs::create_symlink("../../node_modules/b/index.js", from_ / "a" / "link");
  const auto copied = copy();
  ASSERT_TRUE(copied) << copied.error().to_string();
  EXPECT_EQ(fs::read_symlink(to_ / "b"), "a");
  EXPECT_EQ(fs::read_symlink(to_ / "a" / "link"), "index.js");
}

TEST_F(PackageTree, LeadsLinksToWorkspacesIntoTheProject) {
  trees_.module_folders = {"", "packages/a"};
  const fs::path a = trees_.folder / "packages" / "a";
  ASSERT_TRUE(make_folders(a / "node_modules" / "@s"));
  ASSERT_TRUE(make_folders(trees_.folder / "packages" / "ab"));
  ASSERT_TRUE(make_folders(temp_->path() / "copy" / "packages" / "a"));
  fs::create_symlink("../packages/a", from_ / "@a");
  fs::create_symlink("../../../../packages/a", a / "node_modules" / "@s" / "a");
  fs::create_symlink("../../../node_modules/a", a / "node_modules" / "hoisted");
  fs::create_symlink("..", from_ / "whole");
  const auto copied = copy();
  ASSERT_TRUE(copied) << copied.error().to_string();
  const fs::path copy_of_a = temp_->path() / "copy" / "packages" / "a" / "node_modules";
  EXPECT_EQ(fs::read_symlink(to_ / "@a"), "/app/packages/a");
  EXPECT_EQ(fs::read_symlink(to_ / "whole"), "/app");
  EXPECT_EQ(fs::read_symlink(copy_of_a / "@s" / "a"), "/app/packages/a");
  EXPECT_EQ(fs::read_symlink(copy_of_a / "hoisted"), "../../../node_modules/a");
  EXPECT_EQ(*read_file(copy_of_a / "hoisted" / "index.js", 100), "module.exports = 1\n");

  // A folder beside the workspaces whose name only begins like one.
  ASSERT_TRUE(remove_tree(temp_->path() / "copy"));
  ASSERT_TRUE(make_folders(temp_->path() / "copy" / "packages" / "a"));
  fs::create_symlink("../packages/ab", from_ / "z");
  expect_refused();
}

// An engine would remove the file x of a lower layer.
TEST_F(PackageTree, RefusesNamesThatRemoveFilesOfAnImage) {
  ASSERT_TRUE(write_file_atomically(from_ / "a" / ".wh.x", ""));
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
