// A network of a test's own, for root: a thread's, and that of the threads and programs it starts.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace guard::test {

// Runs `body` in it, after `ip` with each of `settings`. False where this user may have none, or there is no `ip`.
inline bool in_own_network(const std::vector<std::string>& settings, const std::function<void()>& body) {
  bool may = false;
  std::thread([&] {
    if (::unshare(CLONE_NEWNET) != 0) return;
    for (const std::string& one : settings) {
      const int status = std::system(("ip " + one).c_str());
      if (WEXITSTATUS(status) == 127) return;
      EXPECT_EQ(status, 0) << one;
    }
    may = true;
    body();
  }).join();
  return may;
}

}  // namespace guard::test
