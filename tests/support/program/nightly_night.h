// A repository with a plan for the scripted generator, and what came of its night.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/program/git_repository.h"

namespace guard::testing {

struct NightTask {
  std::string id;
  std::string behaviour;
  std::string more = {};  // lines of TOML
};

// Asks for 30 s at most.
inline bool wait_for(const std::function<bool()>& what) {
  for (int i = 0; i < 3'000; ++i) {
    if (what()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class NightRepository {
 public:
  // `config`: of guard.toml at the base. The backend's image is built.
  explicit NightRepository(std::string_view backend = "namespace", std::string_view config = "");

  // A plan with these tasks; `head` stands before them: keys of the plan itself.
  void plan(const std::vector<NightTask>& tasks, std::string_view head = "") const;

  ProgramResult guard(std::vector<std::string> arguments) const;
  ProgramResult run() const { return guard({"nightly", "run", plan_file(), "--format", "json"}); }
  std::map<std::string, std::string> environment() const;

  const Repository& repository() const { return repository_; }
  std::filesystem::path state() const { return state_.path() / "state"; }
  std::string plan_file() const { return (plans_.path() / "plan.toml").string(); }

  // Task -> "accepted", "refused:findings", "failed:generator_crashed", "waiting:error", of the newest night.
  std::map<std::string, std::string> outcomes() const;
  // The tasks whose commits are on the night's branch, in their order.
  std::vector<std::string> committed() const;
  std::string branch() const;
  // Sentences: what a night must not leave behind.
  std::vector<std::string> leftovers() const;

 private:
  Repository repository_;
  TempDir state_;
  TempDir plans_;
};

}  // namespace guard::testing
