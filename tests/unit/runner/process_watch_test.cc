#include "init/process_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

namespace guard::init {
namespace {

struct Seen {
  Watch watch;
  int status = -1;  // wait status
  bool listened = false;
};

// A child that is watched as a program that was executed, and does `act`.
Seen watched(const std::function<void()>& act) {
  int ends[2];
  Seen seen;
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return seen;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !begin_watch(ends[1])) ::_exit(99);
    act();
    ::_exit(7);
  }
  ::close(ends[1]);
  seen.watch = take_watch(ends[0], child);
  ::close(ends[0]);
  seen.listened = seen.watch.listener >= 0;
  seen.watch.runs = true;
  while (::waitpid(child, &seen.status, WNOHANG) == 0) {
    pollfd listener{seen.watch.listener, POLLIN, 0};
    ::poll(&listener, 1, 10);
    if (seen.watch.listener >= 0) answer_call(seen.watch);
  }
  return seen;
}

class ProcessWatch : public ::testing::Test {
 protected:
  // The kernel has to have it: everything below would pass without.
  void SetUp() override {
    ASSERT_TRUE(watched([] {}).listened);
  }

  static void expect(bool moved, bool elsewhere, int code, const std::function<void()>& act) {
    const Seen seen = watched(act);
    EXPECT_EQ(seen.watch.errors_moved, moved);
    EXPECT_EQ(seen.watch.ended_elsewhere, elsewhere);
    ASSERT_TRUE(WIFEXITED(seen.status)) << seen.status;
    EXPECT_EQ(WEXITSTATUS(seen.status), code);
  }
};

TEST_F(ProcessWatch, AnEndOfItsOwnIsNothing) {
  expect(false, false, 7, [] {});
}

TEST_F(ProcessWatch, OtherDescriptorsAreNothing) {
  expect(false, false, 7, [] {
    ::dup2(2, 9);
    ::dup3(2, 10, O_CLOEXEC);
    ::close(9);
    ::close(1);
    ::close_range(3, ~0U, 0);
  });
}

TEST_F(ProcessWatch, StandardErrorThatIsClosedIsSeenThoughItComesBack) {
  expect(true, false, 7, [] {
    const int kept = ::dup(2);
    ::close(2);
    ::dup2(kept, 2);
  });
}

TEST_F(ProcessWatch, EachWayFromStandardErrorIsSeen) {
  const std::function<void()> ways[] = {
      [] { ::close(2); }, [] { ::dup2(1, 2); }, [] { ::dup3(1, 2, 0); }, [] { ::close_range(2, 2, 0); },
      [] { ::close_range(0, ~0U, 0); }, [] { ::shutdown(2, SHUT_WR); }, [] { std::thread([] { ::close(2); }).join(); },
      [] { ::syscall(SYS_close, 0x1'0000'0002); },  // the kernel takes an int
  };
  for (const auto& way : ways) expect(true, false, 7, way);
}

TEST_F(ProcessWatch, ProcessesBelowMayDoAsTheyLike) {
  expect(false, false, 7, [] {
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(1, 2);
      ::close(2);
      ::execl("/bin/sh", "sh", "-c", "exec 2>/dev/null; exit 3", nullptr);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) ::_exit(1);
  });
}

TEST_F(ProcessWatch, AnEndByAnotherThreadIsSeen) {
  expect(false, true, 0, [] { std::thread([] { ::_exit(0); }).join(); });
}

TEST_F(ProcessWatch, AnotherProgramInItsPlaceIsSeen) {
  expect(false, true, 4, [] { ::execl("/bin/sh", "sh", "-c", "exit 4", nullptr); });
}

TEST_F(ProcessWatch, ASecondListenerIsRefused) {
  expect(false, false, 7, [] {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0 || !begin_watch(ends[1])) ::_exit(1);
    const Watch second = take_watch(ends[0], ::getpid());
    if (second.listener >= 0) ::_exit(2);
  });
}

TEST_F(ProcessWatch, AProgramThatIsKilledWhileItWaitsEnds) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !begin_watch(ends[1])) ::_exit(99);
    ::close(2);
    ::_exit(7);
  }
  ::close(ends[1]);
  Watch watch = take_watch(ends[0], child);
  ::close(ends[0]);
  pollfd listener{watch.listener, POLLIN, 0};
  ASSERT_EQ(::poll(&listener, 1, 10'000), 1);  // it waits, and nobody answers
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  while (watch.listener >= 0) {
    ::poll(&listener, 1, 1000);
    answer_call(watch);  // closes it: nobody is left
  }
}

TEST_F(ProcessWatch, WhoNeverBeginsIsNotWatched) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  ::close(ends[1]);
  EXPECT_LT(take_watch(ends[0], ::getpid()).listener, 0);
  ::close(ends[0]);
}

}  // namespace
}  // namespace guard::init
