// Files put into a person's folder, against what may stand there, be put there meanwhile, or run out.
#include "pipeline/run/write_back.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "common/file_io.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

class WriteBack : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    fs::create_directories(sandbox());
    fs::create_directories(outside());
    auto opened = TargetFolder::open(sandbox());
    ASSERT_TRUE(opened) << opened.error().to_string();
    target_.emplace(std::move(*opened));
  }

  fs::path sandbox() const { return folder_->path() / "sandbox"; }
  fs::path outside() const { return folder_->path() / "outside"; }
  Result<std::vector<bool>> write(const std::vector<CollectedFile>& files) const { return target_->write(files); }

  // Every name below the project, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder_->path()))
      found.push_back(entry.path().lexically_relative(folder_->path()));
    std::sort(found.begin(), found.end());
    return found;
  }

  static std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

 private:
  std::optional<TempDir> folder_;
  std::optional<TargetFolder> target_;
};

using Names = std::vector<std::string>;

TEST_F(WriteBack, WritesPlainFilesAndTheirFoldersAndLeavesNothingElse) {
  const auto written = write({{"a.txt", "one"}, {"out/deep/b.json", std::string(100'000, 'b')}, {"out/empty", ""}});
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_EQ(*written, std::vector<bool>({true, true, true}));
  EXPECT_EQ(names(),
      (Names{"outside", "sandbox", "sandbox/a.txt", "sandbox/out", "sandbox/out/deep", "sandbox/out/deep/b.json",
          "sandbox/out/empty"}));
  EXPECT_EQ(text_of(sandbox() / "a.txt"), "one");
  EXPECT_EQ(text_of(sandbox() / "out/deep/b.json"), std::string(100'000, 'b'));
  struct stat status {};
  ASSERT_EQ(::stat((sandbox() / "a.txt").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07133, 0u);  // nobody else writes it, nobody executes it
  EXPECT_EQ(status.st_nlink, 1u);
}

TEST_F(WriteBack, ReplacesNothing) {
  std::ofstream(sandbox() / "file") << "the person's";
  fs::create_symlink(outside() / "new", sandbox() / "link");
  fs::create_directories(sandbox() / "folder");
  ASSERT_EQ(::mkfifo((sandbox() / "fifo").c_str(), 0600), 0);
  const auto written = write({{"file", "x"}, {"link", "x"}, {"folder", "x"}, {"fifo", "x"}, {"free", "x"}});
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_EQ(*written, std::vector<bool>({false, false, false, false, true}));
  EXPECT_EQ(text_of(sandbox() / "file"), "the person's");
  EXPECT_EQ(names(),
      (Names{"outside", "sandbox", "sandbox/fifo", "sandbox/file", "sandbox/folder", "sandbox/free", "sandbox/link"}));
}

TEST_F(WriteBack, GoesThroughNoLinkAndTakesBackWhatItWrote) {
  fs::create_directory_symlink(outside(), sandbox() / "planted");
  const auto written = write({{"a", "x"}, {"made/b", "x"}, {"planted/c", "x"}});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::io_error);
  EXPECT_EQ(names(), (Names{"outside", "sandbox", "sandbox/planted"}));
}

TEST_F(WriteBack, AFileInPlaceOfAFolderUndoesAll) {
  std::ofstream(sandbox() / "taken") << "a file";
  ASSERT_FALSE(write({{"a", "x"}, {"taken/b", "x"}}));
  EXPECT_EQ(names(), (Names{"outside", "sandbox", "sandbox/taken"}));
}

// The folder that was checked is the one that is written to, whatever has its name by then.
TEST_F(WriteBack, StaysInTheFolderThatWasOpened) {
  fs::rename(sandbox(), sandbox().parent_path() / "moved");
  fs::create_directory_symlink(outside(), sandbox());
  const auto written = write({{"out/a", "x"}});
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_EQ(names(), (Names{"moved", "moved/out", "moved/out/a", "outside", "sandbox"}));
}

// A disk that is full says no in the middle of a file, too.
TEST_F(WriteBack, AWriteThatFailsLeavesNothing) {
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small = {4096, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto written = write({{"out/a", "fits"}, {"out/b", std::string(10'000, 'x')}});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  ::signal(SIGXFSZ, before);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().sys_errno(), EFBIG) << written.error().to_string();
  EXPECT_EQ(names(), (Names{"outside", "sandbox"}));
}

TEST_F(WriteBack, OpensFoldersOnly) {
  fs::create_directory_symlink(outside(), sandbox() / "link");
  std::ofstream(sandbox() / "file") << "x";
  EXPECT_EQ(TargetFolder::open(sandbox() / "link").error().code(), ErrorCode::input_invalid);
  EXPECT_EQ(TargetFolder::open(sandbox() / "file").error().code(), ErrorCode::input_invalid);
  EXPECT_EQ(TargetFolder::open(sandbox() / "none").error().code(), ErrorCode::file_not_found);
}

}  // namespace
}  // namespace guard
