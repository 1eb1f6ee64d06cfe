#include "runner/files/file_digests.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>

#include "common/file_io.h"
#include "common/hash.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

class FileDigestsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto temp = TempDir::create();
    ASSERT_TRUE(temp);
    temp_.emplace(std::move(*temp));
    file_ = temp_->path() / "file";
    ASSERT_TRUE(write_file_atomically(file_, "contents"));
  }

  std::string digest() {
    FileDigests digests(temp_->path() / "cache");
    auto answer = digests.sha256_hex_of(file_);
    return answer ? *answer : answer.error().to_string();
  }

  // The store as it would be if the file had been read long ago, with a digest that tells whether it was used.
  void remember(const std::string& digest) {
    struct stat status {};
    ASSERT_EQ(::stat(file_.c_str(), &status), 0);
    char key[256];
    std::snprintf(key, sizeof key, "%lx:%lx:%lx:%lx.%lx:%lx.%lx", static_cast<unsigned long>(status.st_dev),
        static_cast<unsigned long>(status.st_ino), static_cast<unsigned long>(status.st_size),
        static_cast<unsigned long>(status.st_mtim.tv_sec), static_cast<unsigned long>(status.st_mtim.tv_nsec),
        static_cast<unsigned long>(status.st_ctim.tv_sec), static_cast<unsigned long>(status.st_ctim.tv_nsec));
    ASSERT_TRUE(make_folders(temp_->path() / "cache"));
    ASSERT_TRUE(write_file_atomically(temp_->path() / "cache" / "file-digests", digest + " " + key + "\n"));
  }

  std::optional<TempDir> temp_;
  fs::path file_;
};

TEST_F(FileDigestsTest, IsTheDigestOfTheContents) { EXPECT_EQ(digest(), sha256_hex("contents")); }

TEST_F(FileDigestsTest, UsesWhatItRemembers) {
  const std::string planted(64, 'a');
  remember(planted);
  EXPECT_EQ(digest(), planted);
}

TEST_F(FileDigestsTest, ForgetsAFileThatWasWritten) {
  remember(std::string(64, 'a'));
  ASSERT_TRUE(write_file_atomically(file_, "CONTENTS"));
  EXPECT_EQ(digest(), sha256_hex("CONTENTS"));
}

// What keeps size and modification time but not the change time: a write followed by utimensat.
TEST_F(FileDigestsTest, IsNotFooledByARestoredTime) {
  remember(std::string(64, 'a'));
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  ::usleep(20'000);  // a tick of the clock that stamps files
  const timespec times[2] = {status.st_atim, status.st_mtim};
  ASSERT_EQ(::truncate(file_.c_str(), 0), 0);
  ASSERT_EQ(::truncate(file_.c_str(), 8), 0);
  ASSERT_EQ(::utimensat(AT_FDCWD, file_.c_str(), times, 0), 0);
  EXPECT_EQ(digest(), sha256_hex(std::string(8, '\0')));
}

// It may be written again within the same tick, and nothing would show it.
TEST_F(FileDigestsTest, DoesNotRememberAFileJustWritten) {
  EXPECT_EQ(digest(), sha256_hex("contents"));
  EXPECT_FALSE(fs::exists(temp_->path() / "cache" / "file-digests"));
}

TEST_F(FileDigestsTest, IgnoresADamagedStore) {
  ASSERT_TRUE(make_folders(temp_->path() / "cache"));
  for (const std::string& text : {std::string(), std::string("\n\n"), std::string("no digest here"),
           std::string(64, 'g') + " key\n", std::string(64, 'a') + "\n"}) {
    ASSERT_TRUE(write_file_atomically(temp_->path() / "cache" / "file-digests", text));
    EXPECT_EQ(digest(), sha256_hex("contents"));
  }
}

TEST_F(FileDigestsTest, RefusesWhatIsNoFile) {
  FileDigests digests(temp_->path() / "cache");
  EXPECT_FALSE(digests.sha256_hex_of(temp_->path()));
  auto missing = digests.sha256_hex_of(temp_->path() / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::file_not_found);
  ASSERT_EQ(::mkfifo((temp_->path() / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(digests.sha256_hex_of(temp_->path() / "pipe"));
}

}  // namespace
}  // namespace guard
