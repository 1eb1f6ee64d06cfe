#include "cli/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_io.h"

namespace guard {
namespace {

std::span<const char> bytes(std::string_view text) { return {text.data(), text.size()}; }

class OutputFileTest : public ::testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();
  std::string path_ = folder_.path() / "out";
};

TEST_F(OutputFileTest, ReplacesWhatWasThereOnlyWhenItIsToldTo) {
  ASSERT_TRUE(write_new_file(path_, "something long"));
  auto file = OutputFile::open("--out", path_);
  ASSERT_TRUE(file);
  EXPECT_EQ(*read_file(path_, 100), "something long");
  ASSERT_TRUE(file->empty());
  ASSERT_TRUE(file->push(bytes(std::string_view("a\0b\xff", 4))));
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(*read_file(path_, 100), std::string("a\0b\xff", 4));
  EXPECT_EQ(file->bytes(), 4U);
  EXPECT_EQ(file->finish_sha256(), sha256_hex(std::string_view("a\0b\xff", 4)));
}

TEST_F(OutputFileTest, RefusesWhatIsNoFileOfItsOwn) {
  ASSERT_EQ(::symlink("elsewhere", path_.c_str()), 0);
  ASSERT_EQ(::mkfifo((folder_.path() / "fifo").c_str(), 0600), 0);
  for (const std::string& path : {path_, (folder_.path() / "fifo").native(), folder_.path().native(),
           std::string("/dev/full"), (folder_.path() / "none/out").native()}) {
    const auto refused = OutputFile::open("--out", path);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code(), ErrorCode::input_invalid) << path;
  }
  EXPECT_FALSE(read_file(folder_.path() / "elsewhere", 1));
}

TEST_F(OutputFileTest, KnowsItselfUnderAnotherName) {
  auto file = OutputFile::open("--out", path_);
  ASSERT_TRUE(file);
  const UniqueFd same(::open((folder_.path() / "./out").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(file->differs_from(same.get(), "--stdin"));
  EXPECT_TRUE(file->differs_from(-1, "--stdin"));
  EXPECT_TRUE(file->differs_from(STDIN_FILENO, "--stdin"));
}

// As on a full disk.
TEST_F(OutputFileTest, FailsWhereThereIsNoMoreRoom) {
  auto file = OutputFile::open("--out", path_);
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
