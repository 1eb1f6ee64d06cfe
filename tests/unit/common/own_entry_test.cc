#include "common/own_entry.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>

#include "common/file_io.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

class OwnEntries : public ::testing::Test {
 protected:
  OwnEntries()
      : folder_(TempDir::create().value()), fd_(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.insert(entry.path().filename());
    return names;
  }

  TempDir folder_;
  UniqueFd fd_;
};

TEST_F(OwnEntries, OfTheLivingStayAndOfTheDeadGo) {
  auto file = make_own_file(fd_.get());
  auto folder = make_own_folder(fd_.get());
  ASSERT_TRUE(file && folder);
  std::ofstream(folder_.path() / folder->name / "0") << "half";
  EXPECT_TRUE(is_own_name(file->name) && is_own_name(folder->name));
  EXPECT_TRUE(sweep_own(folder_.path()).removed.empty());
  EXPECT_EQ(names(), (std::set<std::string>{file->name, folder->name}));
  file->fd.reset();
  EXPECT_EQ(sweep_own(folder_.path(), SweepMode::list).removed, std::vector<std::string>{folder_.path() / file->name});
  EXPECT_EQ(names(), (std::set<std::string>{file->name, folder->name}));
  EXPECT_EQ(sweep_own(folder_.path()).removed, std::vector<std::string>{folder_.path() / file->name});
  EXPECT_EQ(names(), std::set<std::string>{folder->name});
  folder->fd.reset();
  EXPECT_EQ(sweep_own(folder_.path()).removed.size(), 1u);
  EXPECT_TRUE(names().empty());
}

TEST_F(OwnEntries, WhatIsNotOursStays) {
  for (const char* name : {".guard-", ".guard-0123456789abcde", ".guard-0123456789abcdef0", ".guard-0123456789abcdeF",
           "guard-0123456789abcdef", ".guard-init", ".guard-run"}) {
    EXPECT_FALSE(is_own_name(name)) << name;
    std::ofstream(folder_.path() / name) << "x";
  }
  fs::create_symlink("/etc", folder_.path() / ".guard-0123456789abcdef");
  ASSERT_EQ(::mkfifo((folder_.path() / ".guard-1123456789abcdef").c_str(), 0600), 0);
  const auto before = names();
  EXPECT_TRUE(sweep_own(folder_.path()).removed.empty());
  EXPECT_EQ(names(), before);
  EXPECT_TRUE(sweep_own(folder_.path() / "none").failed.empty());
}

// Whoever is swept between making and locking makes another.
TEST_F(OwnEntries, ASweepBesideTheMakersTakesNothingAway) {
  const std::jthread sweeper([&](const std::stop_token& over) {
    while (!over.stop_requested()) (void)sweep_own(folder_.path());
  });
  for (int i = 0; i < 500; ++i) {
    auto file = make_own_file(fd_.get());
    auto folder = make_own_folder(fd_.get());
    ASSERT_TRUE(file.has_value()) << i << ": " << file.error().to_string();
    ASSERT_TRUE(folder.has_value()) << i << ": " << folder.error().to_string();
    struct stat status {};
    ASSERT_EQ(::fstatat(fd_.get(), file->name.c_str(), &status, 0), 0) << i;
    ASSERT_EQ(::fstatat(fd_.get(), folder->name.c_str(), &status, 0), 0) << i;
  }
}

// Killed in the middle of each: the next one in that folder removes what is left.
TEST_F(OwnEntries, AKilledWriterAndATemporaryFolderLeaveNothingForLong) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    auto file = make_own_file(fd_.get());
    auto temporary = TempDir::create(folder_.path());
    std::ofstream(temporary->path() / "x") << "x";
    ::_exit(file && temporary ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(names().size(), 2u);
  ASSERT_TRUE(write_file_atomically(folder_.path() / "a", "text"));
  EXPECT_EQ(names(), std::set<std::string>{"a"});
}

}  // namespace
}  // namespace guard
