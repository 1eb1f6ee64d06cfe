// A manager over scripted sandboxes and a clock that stands still.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/file_io.h"
#include "sessions/manager.h"
#include "tests/support/sessions/scripted_sandboxes.h"

namespace guard::sessions {

class SessionsTest : public testing::Test {
 protected:
  static Options without_pool() {
    Options options;
    options.policy.starts_max = 0;
    options.policy.pool_target = 0;
    return options;
  }

  void open(Options options = {}) {
    auto opened = Manager::open(state_.path(), sandboxes_.factory(), clock_, std::move(options));
    ASSERT_TRUE(opened) << opened.error().to_string();
    manager_ = std::move(*opened);
  }

  // What a program said; or how it failed.
  Result<std::string> run(const std::string& session, std::vector<std::string> argv) {
    auto output =
        manager_->exec(session, program(std::move(argv), session), 1 << 20, Deadline::after(milliseconds(10'000)));
    if (!output) return std::move(output).error();
    return output->out;
  }

  std::string said(const std::string& session, std::vector<std::string> argv) {
    auto output = run(session, std::move(argv));
    return output ? *output : output.error().to_string();
  }

  std::string eventually_run(const std::string& session, const std::vector<std::string>& argv) {
    for (int left = 20;; --left) {
      auto said = run(session, argv);
      if (said) return *said;
      if (left == 0) return said.error().to_string();
    }
  }

  template <typename Condition>
  static bool eventually(const Condition& condition) {
    for (int left = 2'000; left > 0; --left) {
      if (condition()) return true;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return false;
  }

  void wait_for_pool(std::size_t count) {
    EXPECT_TRUE(eventually([&] {
      const Stats stats = manager_->stats();
      return stats.pooled >= count && stats.starting == 0;  // one more for each call that has waited
    })) << manager_->stats().pooled;
  }

  SessionInfo info(const std::string& id) const {
    for (SessionInfo& session : manager_->sessions()) {
      if (session.row.id == id) return std::move(session);
    }
    ADD_FAILURE() << "no session " << id;
    return {};
  }
  SessionState state(const std::string& id) const { return info(id).state; }
  std::string sandbox_of(const std::string& id) const { return info(id).row.workspace; }

  std::vector<std::string> folders() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(state_.path() / "workspaces"))
      names.push_back(entry.path().filename().string());
    return names;
  }
  // Those with a file in them.
  std::vector<std::string> used_folders() const {
    std::vector<std::string> names;
    for (const std::string& name : folders()) {
      std::error_code error;
      if (!std::filesystem::is_empty(state_.path() / "workspaces" / name, error)) names.push_back(name);
    }
    return names;
  }

  // In memory where that can be had: the ledger waits for the disk with every step, and here are thousands.
  static TempDir new_state() {
    auto in_memory = TempDir::create("/dev/shm");
    return in_memory ? std::move(*in_memory) : *TempDir::create();
  }

  TempDir state_ = new_state();
  FakeClock clock_;
  ScriptedSandboxes sandboxes_;
  std::unique_ptr<Manager> manager_;
};

}  // namespace guard::sessions
