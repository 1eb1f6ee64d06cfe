// A project whose sessions `guard serve` has, on the backend that is the test's parameter.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/program/guard_program.h"

namespace guard::testing {

class ServedProject : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    GUARD_NEEDS(GetParam() == std::string("docker") ? Needs::docker : Needs::namespace_sandbox);
    std::filesystem::permissions(state_.path(), std::filesystem::perms(0711));
  }
  void TearDown() override { stop(); }

  void serve(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {
        "serve", "--state", state_.path(), "--backend", GetParam(), "--project", project_.path()};
    words.insert(words.end(), more.begin(), more.end());
    serve_ = start_guard(words, project_.environment());
    for (int i = 0; i < 600 && !std::filesystem::exists(state_.path() / "sessions/socket"); ++i)
      std::this_thread::sleep_for(milliseconds(50));
  }
  void stop() {
    if (serve_ <= 0) return;
    ::kill(serve_, SIGTERM);
    ::waitpid(serve_, nullptr, 0);
    serve_ = -1;
  }
  ProgramResult session(std::vector<std::string> words) const {
    words.insert(words.begin(), "session");
    words.insert(words.begin() + 2, {"--state", state_.path()});
    return project_.guard(words);
  }
  std::string trace() const { return state_.path() / "trace.jsonl"; }

  Project project_;
  const TempDir state_ = *TempDir::create();

 private:
  pid_t serve_ = -1;
};

}  // namespace guard::testing
