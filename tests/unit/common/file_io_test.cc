#include "common/file_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace guard {
namespace {

namespace fs = std::filesystem;

class FileIo : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::create();
    ASSERT_TRUE(made) << made.error().to_string();
    folder_.emplace(std::move(*made));
  }
  fs::path at(const char* name) const { return folder_->path() / name; }
  std::optional<TempDir> folder_;
};

TEST_F(FileIo, ReadsBackWhatWasWritten) {
  const std::string bytes("a\0b\xff", 4);
  ASSERT_TRUE(write_file_atomically(at("f"), bytes));
  const auto read = read_file(at("f"), 100);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, bytes);
}

TEST_F(FileIo, ReadRefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  const auto fifo = read_file(at("fifo"), 100);  // must not wait for a writer
  ASSERT_FALSE(fifo);
  EXPECT_EQ(fifo.error().code(), ErrorCode::input_invalid);
  EXPECT_EQ(read_file(folder_->path(), 100).error().code(), ErrorCode::input_invalid);
  EXPECT_EQ(read_file(at("missing"), 100).error().code(), ErrorCode::file_not_found);
  EXPECT_EQ(read_file("/dev/zero", 100).error().code(), ErrorCode::input_invalid);
}

TEST_F(FileIo, ReadFollowsNoLinkWhereToldSo) {
  ASSERT_TRUE(write_file_atomically(at("target"), "x"));
  ASSERT_EQ(::symlink("target", at("link").c_str()), 0);
  EXPECT_TRUE(read_file(at("link"), 100, FollowLinks::yes));
  const auto refused = read_file(at("link"), 100, FollowLinks::no);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::input_invalid);
}

TEST_F(FileIo, ReadStopsAtTheLimit) {
  ASSERT_TRUE(write_file_atomically(at("f"), std::string(101, 'x')));
  EXPECT_EQ(read_file(at("f"), 100).error().code(), ErrorCode::file_too_large);
  EXPECT_TRUE(read_file(at("f"), 101));
}

TEST_F(FileIo, AtomicWriteLeavesNoTemporaryFileBehindWhenItFails) {
  ASSERT_EQ(::mkdir(at("taken").c_str(), 0700), 0);
  ASSERT_TRUE(write_file_atomically(at("taken") / "inside", "x"));
  EXPECT_FALSE(write_file_atomically(at("taken"), "y"));  // rename onto a folder that is not empty fails
  std::size_t entries = 0;
  for (const auto& entry : fs::directory_iterator(folder_->path())) {
    EXPECT_EQ(entry.path().filename(), "taken");
    ++entries;
  }
  EXPECT_EQ(entries, 1u);
}

TEST_F(FileIo, NewFileIsNeverWrittenThroughALink) {
  ASSERT_TRUE(write_file_atomically(at("precious"), "old"));
  ASSERT_EQ(::symlink("precious", at("link").c_str()), 0);
  EXPECT_FALSE(write_new_file(at("link"), "new"));
  EXPECT_EQ(*read_file(at("precious"), 100), "old");
}

// Deeper than there are descriptors, and than a path may be long.
TEST_F(FileIo, RemoveTreeReachesFoldersThatLieDeepInEachOther) {
  ASSERT_EQ(::mkdir(at("deep").c_str(), 0755), 0);
  UniqueFd folder(::open(at("deep").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 5'000; ++i) {
    ASSERT_EQ(::mkdirat(folder.get(), "d", 0755), 0);
    folder.reset(::openat(folder.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(folder);
  }
  folder.reset();
  EXPECT_TRUE(remove_tree(at("deep")));
  EXPECT_FALSE(std::filesystem::exists(at("deep")));
}

TEST_F(FileIo, RemoveTreeTakesClosedFoldersButNotWhatLinksPointAt) {
  ASSERT_TRUE(make_folders(at("tree") / "closed"));
  ASSERT_TRUE(write_file_atomically(at("tree") / "closed" / "f", "x"));
  ASSERT_TRUE(write_file_atomically(at("outside"), "kept"));
  ASSERT_EQ(::symlink(at("outside").c_str(), (at("tree") / "link").c_str()), 0);
  ASSERT_EQ(::symlink(folder_->path().c_str(), (at("tree") / "folder_link").c_str()), 0);
  ASSERT_EQ(::chmod((at("tree") / "closed").c_str(), 0000), 0);
  ASSERT_TRUE(remove_tree(at("tree")));
  EXPECT_FALSE(fs::exists(at("tree")));
  EXPECT_EQ(*read_file(at("outside"), 100), "kept");
  EXPECT_TRUE(remove_tree(at("tree")));  // gone already is no error
}

TEST_F(FileIo, TempDirGoesWithItsOwner) {
  fs::path path;
  {
    auto made = TempDir::create(folder_->path());
    ASSERT_TRUE(made);
    path = made->path();
    TempDir moved = std::move(*made);
    ASSERT_TRUE(write_file_atomically(path / "f", "x"));
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace guard
