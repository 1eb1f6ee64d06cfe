#include "cli/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_io.h"
#include "tests/support/scoped_env.h"

namespace guard {
namespace {

std::span<const char> bytes(std::string_view text) { return {text.data(), text.size()}; }

class OutputFileTest : public ::testing::Test {
 protected:
  static Result<OutputFile> open(const std::string& path) { return OutputFile::open({"--out", path, {}}); }
  // Of a project, of which `out` is a folder.
  Result<OutputFile> open_in_project(const std::string& path, std::vector<std::string> writes = {}) {
    std::filesystem::create_directories(folder_.path() / "out");
    return OutputFile::open({"--out", folder_.path() / path, folder_.path(), std::move(writes)});
  }
  std::string refusal(const std::string& path, std::vector<std::string> writes = {}) {
    const auto refused = open_in_project(path, std::move(writes));
    if (refused) return "";
    EXPECT_EQ(refused.error().code(), ErrorCode::usage) << path;
    return refused.error().message();
  }
  TempDir folder_ = *TempDir::create();
  std::string path_ = folder_.path() / "out";
};

TEST_F(OutputFileTest, KeepsWhatWasThereUntilTheProgramSpeaks) {
  ASSERT_TRUE(write_new_file(path_, "something long", 0640));
  { ASSERT_TRUE(open(path_)); }
  EXPECT_EQ(*read_file(path_, 100), "something long");
  auto file = open(path_);
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->begun());
  ASSERT_TRUE(file->push(bytes(std::string_view("a\0b\xff", 4))));
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(*read_file(path_, 100), std::string("a\0b\xff", 4));
  EXPECT_EQ(file->bytes(), 4U);
  EXPECT_EQ(file->finish_sha256(), sha256_hex(std::string_view("a\0b\xff", 4)));
  struct stat found {};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0640u);
}

TEST_F(OutputFileTest, IsEmptiedByAProgramThatSaysNothing) {
  ASSERT_TRUE(write_new_file(path_, "something long"));
  auto file = open(path_);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(*read_file(path_, 100), "");
}

TEST_F(OutputFileTest, LeavesNoNewFileBehindWhereNothingRan) {
  {
    const auto file = open(path_);
    ASSERT_TRUE(file);
    EXPECT_TRUE(std::filesystem::exists(path_));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  {
    const auto file = open(path_);
    ASSERT_TRUE(file);
    std::filesystem::remove(path_);
    ASSERT_TRUE(write_new_file(path_, "somebody else's"));
  }
  EXPECT_EQ(*read_file(path_, 100), "somebody else's");
}

TEST_F(OutputFileTest, KnowsThatGuardHasReadItUnderAnyName) {
  ASSERT_TRUE(write_new_file(path_, "read"));
  std::filesystem::create_symlink("out", folder_.path() / "name");
  const auto file = open(path_);
  ASSERT_TRUE(file);
  ASSERT_TRUE(read_file(path_, 100, FollowLinks::no, ReadFor::the_program));
  EXPECT_TRUE(file->was_not_read());
  ASSERT_TRUE(read_file(folder_.path() / "name", 100));
  const auto refused = file->was_not_read();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::usage);
  EXPECT_NE(refused.error().message().find((folder_.path() / "name").native()), std::string::npos);
}

TEST_F(OutputFileTest, FollowsNoLinkOfTheProject) {
  ASSERT_EQ(refusal("out/new"), "");
  std::filesystem::create_directories(folder_.path() / "hooks/deep");
  std::filesystem::create_directory_symlink("../hooks", folder_.path() / "out/l");
  std::filesystem::create_directory_symlink(".", folder_.path() / "here");
  std::filesystem::create_directory_symlink("/tmp", folder_.path() / "away");
  for (const char* path : {"out/l/new", "out/l/deep/new", "here/out/new", "here/new", "away/new", "out/l/../new"})
    EXPECT_NE(refusal(path).find("symbolic link in its path"), std::string::npos) << path;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "hooks/new"));
  // The person's own, outside.
  const TempDir outside = *TempDir::create();
  std::filesystem::create_directory_symlink(folder_.path(), outside.path() / "l");
  EXPECT_TRUE(OutputFile::open({"--out", outside.path() / "l/out/new", folder_.path()}));
  const auto refused = OutputFile::open({"--out", outside.path() / "l/out/l/new", folder_.path()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::usage);
}

TEST_F(OutputFileTest, RefusesAFileWithTwoNames) {
  std::filesystem::create_directories(folder_.path() / "out");
  ASSERT_TRUE(write_new_file(folder_.path() / "hook", "kept"));
  std::filesystem::create_hard_link(folder_.path() / "hook", folder_.path() / "out/x");
  EXPECT_NE(refusal("out/x").find("hard link"), std::string::npos);
  auto file = open_in_project("out/y");
  ASSERT_TRUE(file);
  std::filesystem::create_hard_link(folder_.path() / "out/y", folder_.path() / "out/z");
  EXPECT_FALSE(file->push(bytes("a")));
  EXPECT_EQ(*read_file(folder_.path() / "hook", 100), "kept");
}

TEST_F(OutputFileTest, RefusesPlacesThatMeanSomething) {
  for (const char* folder : {".git/hooks", "a/node_modules/x", ".envs", "d/deep"})
    std::filesystem::create_directories(folder_.path() / folder);
  for (const char* path :
      {".git/hooks/new", ".git/new", "out/.env", "out/.env.local", "a/node_modules/x/new", ".envs/x"})
    EXPECT_NE(refusal(path).find("no output goes into"), std::string::npos) << path;
  for (const char* path : {"bun.lock", "out/package.json", "guard.toml"})
    EXPECT_NE(refusal(path).find("guard reads"), std::string::npos) << path;
  for (const char* path : {"d/new", "d/deep/new"}) {
    EXPECT_NE(refusal(path, {"out", "./d/"}).find("--write"), std::string::npos) << path;
    EXPECT_EQ(refusal(path, {"out"}), "") << path;
  }
  const testing::ScopedEnv cache("GUARD_CACHE_DIR", (folder_.path() / "d").native());
  EXPECT_NE(refusal("d/deep/new").find("cache"), std::string::npos);
  EXPECT_NE(refusal("").find("names no file"), std::string::npos);
  EXPECT_NE(refusal("out/..").find("names no file"), std::string::npos);
}

TEST_F(OutputFileTest, RefusesWhatIsNoFileOfItsOwn) {
  ASSERT_EQ(::symlink("elsewhere", path_.c_str()), 0);
  ASSERT_EQ(::mkfifo((folder_.path() / "fifo").c_str(), 0600), 0);
  for (const std::string& path : {path_, (folder_.path() / "fifo").native(), folder_.path().native(),
           std::string("/dev/full"), (folder_.path() / "none/out").native()}) {
    const auto refused = open(path);
    ASSERT_FALSE(refused) << path;
    const bool missing = path.ends_with("none/out");
    EXPECT_EQ(refused.error().code(), missing ? ErrorCode::input_invalid : ErrorCode::usage) << path;
  }
  EXPECT_FALSE(read_file(folder_.path() / "elsewhere", 1));
}

TEST_F(OutputFileTest, KnowsItselfUnderAnotherName) {
  auto file = open(path_);
  ASSERT_TRUE(file);
  const UniqueFd same(::open((folder_.path() / "./out").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(file->differs_from(same.get(), "--stdin"));
  EXPECT_TRUE(file->differs_from(-1, "--stdin"));
  EXPECT_TRUE(file->differs_from(STDIN_FILENO, "--stdin"));
}

// As on a full disk.
TEST_F(OutputFileTest, FailsWhereThereIsNoMoreRoom) {
  auto file = open(path_);
  ASSERT_TRUE(file);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old = ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 8;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto pushed = file->push(bytes("more than eight bytes"));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, old);
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().code(), ErrorCode::io_error);
}

}  // namespace
}  // namespace guard
