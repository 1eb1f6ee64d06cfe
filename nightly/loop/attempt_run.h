// One attempt at one task: clone, generator, gate, tests, worth, commit. Every step is in the journal before it is
// acted on.
//
// Its first half (clone, generate, read the change) needs nothing of other attempts, its second (judge the change on
// the tip of the branch, and commit it) is serial. Three ways of going through them: both halves here; a worker, which
// judges on the commit it began at and keeps nothing (work_attempt()); and both halves with a worker's result in the
// place of the generator, so that what a worker says goes the way of what any generator writes.
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
#include "nightly/workers/executor.h"
#include "nightly/workers/task_folder.h"
#include "pipeline/config/config.h"
#include "redact/kinds/secret_source.h"
#include "rules/matching/matcher.h"
#include "rules/rule_set.h"

namespace guard::nightly {

// Of an attempt whose worker ended without a result, or with one that is none. Not the task's fault, and not the
// night's: workers are lost by the dozen where a machine is.
inline constexpr std::string_view kWorkerLost = "worker_lost";
// Nobody will be given an attempt in this night: it ends.
inline constexpr std::string_view kNoExecutor = "no_executor";

// What all attempts of a night share. Must outlive them; nothing in it changes but what says that it is thread-safe.
struct NightContext {
  // Opened with a token that nobody cancels: a git that is ended midway leaves it open whether a branch has moved.
  const NightRepository* repository = nullptr;
  const StateFolder* state = nullptr;
  Journal* journal = nullptr;  // thread-safe; null: a worker's, which has neither branch nor tip either
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
  // Who makes the first half of attempts; null: they do. With it, what workers are told.
  Executor* executor = nullptr;
  TaskFile for_workers;                // without the order
  std::filesystem::path task_folders;  // of this night
  std::filesystem::path rules_folder;  // empty: the shipped rules
};

// An Error means that the journal can't be written or a commit could not be told apart: the night has to end. Whatever
// else goes wrong is an outcome; what is guard's own or the engine's fault is put back.
Result<Attempt> run_attempt(const NightContext& context, const AttemptOrder& order,
    const std::function<void(AttemptStep)>& progress, const CancelToken& cancel);

// As a worker: everything but the commit, judged on the commit that the attempt began at.
Result<WorkResult> work_attempt(const NightContext& context, const AttemptOrder& order, const CancelToken& cancel);

// What a worker answers that could not make its attempt. `error`: masked.
WorkResult put_back(const Error& error);

// Whether a worker was sent for this attempt by a loop that was killed: then it is not made again, but gone on with.
// IO_ERROR where that can't be seen: a worker may have it.
Result<bool> is_sent(const NightContext& context, const Attempt& attempt);
// Leaves nothing of it for workers.
void forget_sent(const NightContext& context, const Attempt& attempt);
// What executors called the work of the attempts that were sent.
std::vector<std::string> submitted_jobs(const NightContext& context);

// The commit of an attempt that was interrupted while it committed: moves the branch if it has not moved, never twice.
// Answers whether the commit is on the branch now; false: the branch went elsewhere and the task has to run again.
Result<bool> finish_commit(const NightContext& context, const Attempt& attempt);

// The reference that keeps an attempt's commit until it is on the branch.
std::string pending_reference(const std::string& night, const std::string& task);

}  // namespace guard::nightly
