#include "runner/files/writable_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/file_io.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class WritableFolder : public ::testing::Test {
 protected:
  void make(const std::string& folder) { fs::create_directories(project_.path() / folder); }
  std::string fault(std::string_view name) const {
    const auto found = writable_folder(project_.path(), name);
    if (found) return "";
    EXPECT_EQ(found.error().code(), ErrorCode::input_invalid);
    return found.error().message();
  }
  TempDir project_ = *TempDir::create();
};

TEST_F(WritableFolder, IsNamedPlainly) {
  make("a/b");
  for (const char* name : {"a/b", "./a/b/", "a//b", "a/../a/b"}) {
    const auto found = writable_folder(project_.path(), name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(*found, "a/b");
  }
}

TEST_F(WritableFolder, LiesBelowTheProject) {
  make("a");
  for (const char* name : {"", ".", "a/..", "..", "../a", "/", "/tmp"})
    EXPECT_THAT(fault(name), HasSubstr("not a folder below")) << name;
  EXPECT_THAT(fault("none"), HasSubstr("no such folder"));
  ASSERT_TRUE(write_new_file(project_.path() / "file", ""));
  EXPECT_THAT(fault("file"), HasSubstr("no such folder"));
}

TEST_F(WritableFolder, HasNoLinkInItsPath) {
  make("a/b");
  fs::create_directory_symlink("a", project_.path() / "link");
  EXPECT_THAT(fault("link"), HasSubstr("link"));
  EXPECT_THAT(fault("link/b"), HasSubstr("link"));
}

TEST_F(WritableFolder, HoldsNothingThatIsNeverMounted) {
  for (const char* name : {"a/node_modules/x", "b/deep/.git", "c/.envs"}) make(name);
  EXPECT_THAT(fault("a"), HasSubstr("a/node_modules"));
  EXPECT_THAT(fault("a/node_modules"), HasSubstr("never mounted"));
  EXPECT_THAT(fault("a/node_modules/x"), HasSubstr("never mounted"));
  EXPECT_THAT(fault("b"), HasSubstr("b/deep/.git"));
  EXPECT_THAT(fault("c"), HasSubstr("c/.envs"));
}

TEST_F(WritableFolder, HoldsNoWayOut) {
  make("a/deep");
  ASSERT_EQ(::mkfifo((project_.path() / "a/deep/pipe").c_str(), 0600), 0);
  EXPECT_THAT(fault("a"), HasSubstr("a/deep/pipe"));
}

}  // namespace
}  // namespace guard
