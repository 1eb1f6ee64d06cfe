#include "runner/files/writable_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/file_io.h"
#include "tests/support/scoped_env.h"

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
    EXPECT_EQ(found->path, "a/b");
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
  make("b");
  ASSERT_TRUE(write_new_file(project_.path() / "hook", ""));
  fs::create_hard_link(project_.path() / "hook", project_.path() / "b/x");
  EXPECT_THAT(fault("b"), HasSubstr("b/x, which has another name"));
  make("c");
  ASSERT_TRUE(write_new_file(project_.path() / "c/tool", "", 04755));
  EXPECT_THAT(fault("c"), HasSubstr("c/tool, which runs as its owner"));
  make("d");
  fs::permissions(project_.path() / "d", fs::perms(02775));
  EXPECT_EQ(fault("d"), "") << "what is made in it gets its group, and no program runs as that";
}

TEST_F(WritableFolder, HoldsNoKeys) {
  for (const char* name : {"id_rsa", "id_ed25519", "server.pem", "SERVER.PEM", "tls.key", ".npmrc"}) {
    make("keys/deep");
    ASSERT_TRUE(write_new_file(project_.path() / "keys/deep" / name, ""));
    EXPECT_THAT(fault("keys"), HasSubstr(name)) << name;
    fs::remove_all(project_.path() / "keys");
    make(std::string(name) + "/a");
    EXPECT_THAT(fault(std::string(name) + "/a"), HasSubstr(name)) << name;
  }
  make("fine");
  for (const char* name : {"id_rsa.pub", "pem", "key", "monkey.ts"})
    ASSERT_TRUE(write_new_file(project_.path() / "fine" / name, ""));
  EXPECT_EQ(fault("fine"), "");
}

TEST_F(WritableFolder, IsNoPartOfTheCache) {
  make("a/cache/images");
  make("b");
  const testing::ScopedEnv cache("GUARD_CACHE_DIR", (project_.path() / "a/cache").native());
  for (const char* name : {"a", "a/cache", "a/cache/images"}) EXPECT_THAT(fault(name), HasSubstr("cache")) << name;
  EXPECT_EQ(fault("b"), "");
}

TEST_F(WritableFolder, HasANameThatAnEngineCanBeTold) {
  make("\xff");
  EXPECT_THAT(fault("\xff"), HasSubstr("UTF-8"));
}

TEST_F(WritableFolder, IsKnownWhateverLiesThereLater) {
  make("a");
  const auto found = writable_folder(project_.path(), "a");
  ASSERT_TRUE(found);
  struct stat there {};
  ASSERT_EQ(::stat((project_.path() / "a").c_str(), &there), 0);
  EXPECT_EQ(found->identity.device, there.st_dev);
  EXPECT_EQ(found->identity.inode, there.st_ino);
}

}  // namespace
}  // namespace guard
