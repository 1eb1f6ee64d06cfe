#include "runner/process/process_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "common/unique_fd.h"

namespace guard {
namespace {

// A watched limit must not go unseen because nothing could be looked at.
TEST(ProcessTree, SaysThatItCouldNotLookAtAllProcesses) {
  EXPECT_TRUE(measure_tree(::getpid()).complete);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{std::min<rlim_t>(before.rlim_cur, 64), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<UniqueFd> held;
  for (int fd = 0; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) held.emplace_back(fd);
  EXPECT_FALSE(measure_tree(::getpid()).complete);
  EXPECT_GE(living_descendants(::getpid()), 1u);
  held.pop_back();  // enough for the folder, not for what is in it
  EXPECT_FALSE(measure_tree(::getpid()).complete);
  held.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(measure_tree(::getpid()).complete);
}

}  // namespace
}  // namespace guard
