#include "sessions/workspaces.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/file_io.h"
#include "sessions/entries.h"

namespace guard::sessions {
namespace {

namespace fs = std::filesystem;

class WorkspacesTest : public testing::Test {
 protected:
  fs::path of(const std::string& id) const { return workspaces_.path(id); }
  TempDir state_ = *TempDir::create();
  Workspaces workspaces_ = *Workspaces::open(state_.path());
};

TEST_F(WorkspacesTest, MovesEverythingAndFollowsNothing) {
  ASSERT_TRUE(workspaces_.make("r1"));
  ASSERT_TRUE(workspaces_.make("r2"));
  const fs::path outside = state_.path() / "outside";
  fs::create_directories(outside);
  ASSERT_TRUE(write_new_file(outside / "secret", "x"));
  ASSERT_TRUE(write_new_file(of("r1") / "a\nb", "1"));
  ASSERT_TRUE(write_new_file(of("r1") / "...", "2"));
  ASSERT_TRUE(write_new_file(of("r1") / "-rf", "3"));
  fs::create_symlink(outside, of("r1") / "link");
  fs::create_symlink("/nowhere", of("r1") / "dangling");
  fs::create_directories(of("r1") / "d" / "e");
  ASSERT_EQ(::mkfifo((of("r1") / "fifo").c_str(), 0600), 0);
  ASSERT_TRUE(workspaces_.move("r1", "r2"));
  EXPECT_FALSE(fs::exists(of("r1")));
  EXPECT_TRUE(fs::is_symlink(of("r2") / "link"));
  EXPECT_TRUE(fs::is_symlink(of("r2") / "dangling"));
  EXPECT_TRUE(fs::is_fifo(of("r2") / "fifo"));
  EXPECT_EQ(*read_file(of("r2") / "a\nb", 10), "1");
  EXPECT_EQ(*read_file(of("r2") / "...", 10), "2");
  EXPECT_TRUE(fs::is_directory(of("r2") / "d" / "e"));
  EXPECT_TRUE(fs::exists(outside / "secret"));
  EXPECT_TRUE(workspaces_.move("r1", "r2")) << "again, after a crash";
}

// As an ordinary user: to root nothing is closed.
TEST_F(WorkspacesTest, OpensWhatAProgramHasClosed) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::geteuid() == 0 && (::setresgid(1000, 1000, 1000) != 0 || ::setresuid(1000, 1000, 1000) != 0)) ::_exit(2);
    auto state = TempDir::create();
    auto workspaces = state ? Workspaces::open(state->path()) : Result<Workspaces>(state.error());
    bool good = workspaces && workspaces->make("r1") && workspaces->make("r2") &&
        write_new_file(workspaces->path("r1") / "f", "kept") && ::chmod(workspaces->path("r1").c_str(), 0) == 0 &&
        ::chmod(workspaces->path("r2").c_str(), 0555) == 0 && workspaces->move("r1", "r2") &&
        read_file(workspaces->path("r2") / "f", 10).value_or("") == "kept" &&
        ::chmod(workspaces->path("r2").c_str(), 0300) == 0 && workspaces->remove("r2") &&
        !fs::exists(workspaces->path("r2"));
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(WorkspacesTest, NeverOverwrites) {
  ASSERT_TRUE(workspaces_.make("r1"));
  ASSERT_TRUE(workspaces_.make("r2"));
  ASSERT_TRUE(write_new_file(of("r1") / "f", "old"));
  ASSERT_TRUE(write_new_file(of("r2") / "f", "new"));
  EXPECT_FALSE(workspaces_.move("r1", "r2"));
  EXPECT_TRUE(fs::exists(of("r1") / "f"));
  EXPECT_EQ(read_file(of("r2") / "f", 10).value_or("gone"), "new");
}

TEST_F(WorkspacesTest, TakesNoIdForAPath) {
  for (const std::string id : {"", ".", "..", "../x", "a/b", "/tmp", "R1", "r 1"}) {
    EXPECT_FALSE(workspaces_.make(id)) << id;
    EXPECT_FALSE(workspaces_.remove(id)) << id;
    EXPECT_FALSE(workspaces_.move(id, "r2")) << id;
    EXPECT_FALSE(workspaces_.move("r2", id)) << id;
  }
  EXPECT_FALSE(workspaces_.move("r1", "r1"));
}

TEST_F(WorkspacesTest, DoesNotTakeALinkForAWorkspace) {
  const fs::path outside = state_.path() / "outside";
  fs::create_directories(outside);
  ASSERT_TRUE(write_new_file(outside / "f", "x"));
  fs::create_symlink(outside, of("r1"));
  ASSERT_TRUE(workspaces_.make("r2"));
  EXPECT_FALSE(workspaces_.move("r1", "r2"));
  EXPECT_FALSE(workspaces_.move("r2", "r1"));
  EXPECT_TRUE(workspaces_.remove("r1"));
  EXPECT_TRUE(fs::exists(outside / "f"));
}

// Root may rename what it cannot write to; others may not, and sandboxes make such folders.
TEST_F(WorkspacesTest, MovesUnwritableFoldersAsAnOrdinaryUser) {
  const pid_t child = ::fork();
  if (child == 0) {
    const fs::path place = fs::temp_directory_path();
    if (::geteuid() == 0 && (::setgid(1000) != 0 || ::setuid(1000) != 0)) ::_exit(9);
    int code = 0;
    {
      const auto state = TempDir::create(place);
      auto own = Workspaces::open(state->path());
      const mode_t modes[] = {0000, 0500, 0555, 0700};
      if (!own->make("r1") || !own->make("r2")) ::_exit(8);
      for (const mode_t mode : modes) {
        const fs::path folder = own->path("r1") / fmt::format("m{:o}", mode);
        fs::create_directories(folder / "in");
        ::chmod(folder.c_str(), mode);
      }
      if (!own->move("r1", "r2")) code = 1;
      for (const mode_t mode : modes) {
        struct stat status {};
        if (::stat((own->path("r2") / fmt::format("m{:o}", mode)).c_str(), &status) != 0 ||
            (status.st_mode & 07777) != mode)
          code = code * 10 + 2;
      }
      if (!own->remove("r2")) code = 5;
    }
    ::_exit(code);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Entries, AreReadStrictly) {
  const auto record = [](std::string head, std::string path, std::string link) {
    return head + '\0' + path + '\0' + link + '\0';
  };
  const auto good = parse_entries(record("f 644 12 -5", "a b", "") + record("l 777 0 7", "d/l", "/etc"));
  ASSERT_TRUE(good);
  ASSERT_EQ(good->size(), 2u);
  EXPECT_EQ((*good)[0].mode, 0644u);
  EXPECT_EQ((*good)[0].changed_ns, -5);
  EXPECT_EQ((*good)[1].link, "/etc");
  EXPECT_TRUE(parse_entries("")->empty());
  for (const std::string& bad : {record("x 644 1 1", "a", ""), record("f 648 1 1", "a", ""),
           record("f 644 -1 1", "a", ""), record("f 644 1", "a", ""), record("f 644 1 1 1", "a", ""),
           record("f  644 1 1", "a", ""), record("f 644 99999999999999999999 1", "a", ""), record("", "a", ""),
           std::string("f 644 1 1"), std::string("f 644 1 1\0a\0", 12), record("f 644 1 1", "a", "") + "rest"}) {
    EXPECT_FALSE(parse_entries(bad)) << bad;
  }
}

}  // namespace
}  // namespace guard::sessions
