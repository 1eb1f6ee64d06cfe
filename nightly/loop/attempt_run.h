// One attempt at one task: clone, generator, gate, tests, worth, commit. Every step is in the journal before it is
// acted on.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/environment.h"
#include "nightly/loop/journal.h"
#include "nightly/loop/night_repository.h"
#include "nightly/loop/night_values.h"
#include "nightly/loop/state_folder.h"
#include "nightly/plan/plan.h"
#include "pipeline/config/config.h"
#include "redact/kinds/secret_source.h"
#include "rules/matching/matcher.h"
#include "rules/rule_set.h"

namespace guard::nightly {

// What all attempts of a night share. Must outlive them; nothing in it changes but what says that it is thread-safe.
struct NightContext {
  // Opened with a token that nobody cancels: a git that is ended midway leaves it open whether a branch has moved.
  const NightRepository* repository = nullptr;
  const StateFolder* state = nullptr;
  Journal* journal = nullptr;  // thread-safe
  const LoadedConfig* config = nullptr;
  const RuleSet* rules = nullptr;
  const Matcher* matcher = nullptr;
  const SecretSource* secrets = nullptr;
  const Plan* plan = nullptr;
  Environment environment;
  std::string base;
  std::string branch;
  std::string night;
  std::string guard_version;
  std::string supervisor = "/proc/self/exe";
  // Judging is one at a time, up to the commit: so the tree that was tested is the tree that is committed, whatever
  // else runs.
  std::mutex* judging = nullptr;
  // Where the branch has to be, under `judging`: whoever else moves it ends the night.
  std::string* branch_tip = nullptr;
};

struct AttemptOrder {
  PlannedTask task;
  Rollout rollout = Rollout::sandbox;
  std::uint64_t number = 1;
  std::string start;                       // commit to clone
  std::string feedback;                    // of the attempt before
  std::chrono::milliseconds time_left{0};  // of the night; the generator is ended then
};

// An Error means that the journal can't be written or a commit could not be told apart: the night has to end. Whatever
// else goes wrong is an outcome; what is guard's own or the engine's fault is put back.
Result<Attempt> run_attempt(const NightContext& context, const AttemptOrder& order,
    const std::function<void(AttemptStep)>& progress, const CancelToken& cancel);

// The commit of an attempt that was interrupted while it committed: moves the branch if it has not moved, never twice.
// Answers whether the commit is on the branch now; false: the branch went elsewhere and the task has to run again.
Result<bool> finish_commit(const NightContext& context, const Attempt& attempt);

// The reference that keeps an attempt's commit until it is on the branch.
std::string pending_reference(const std::string& night, const std::string& task);

}  // namespace guard::nightly
