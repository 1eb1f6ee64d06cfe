// Who gives task folders to workers. No scheduler: that is what Slurm, Kubernetes and others are there for.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/environment.h"
#include "common/result.h"
#include "nightly/plan/plan.h"

namespace guard::nightly {

struct WorkOrder {
  std::filesystem::path folder;
  std::string job;  // what `submitted` was told for it by a loop that was killed; empty: nobody has it yet
  // Called by work() itself: who has it now. What it can't write down ends the attempt.
  std::function<Result<void>(const std::string& job)> submitted;
  std::function<bool()> is_given_up;  // then it is made only by whoever is at work on it already; empty: never
  std::chrono::milliseconds time_left{0};
};

struct WorkEnd {
  enum class Kind : std::uint8_t { result, lost, out_of_time };
  Kind kind = Kind::result;
  std::string sentence;  // of lost: what is known
};

// Thread-safe: each attempt that is under way waits in work(). The destructor ends whatever is still at work.
class Executor {
 public:
  virtual ~Executor() = default;

  // Until the folder has a result, or its worker is gone without one: lost is only what nobody can be at work on, and
  // nobody can take any more. CANCELLED, at once, also for what was given up while nobody worked on it;
  // ENVIRONMENT_UNAVAILABLE where nobody will be given anything in this night.
  virtual Result<WorkEnd> work(const WorkOrder& order, const CancelToken& cancel) = 0;
};

struct NightPlace {
  std::string night;
  std::filesystem::path folder;   // of its task folders; has to be there
  std::filesystem::path program;  // guard, where the plan names no other
  Environment environment;
  std::function<void(const std::string& sentence)> warn;  // of what somebody should look at; from any thread
  std::vector<std::string> jobs;                          // what `submitted` was told before the loop was killed
  std::chrono::milliseconds refused_for =
      std::chrono::minutes(10);  // before what refuses the night's first job has refused it
};

// As the plan says; null: local. CONFIG_INVALID where the plan asks for what is not installed.
Result<std::unique_ptr<Executor>> make_executor(const ExecutorPlan& plan, NightPlace place);

// For executors: work(), where `look` answers an end that only they can know of; lost only where nobody has the lock.
Result<WorkEnd> await_result(
    const WorkOrder& order, const CancelToken& cancel, const std::function<std::optional<Result<WorkEnd>>()>& look);

// How long a file that another machine wrote may stay unseen in this folder.
std::chrono::milliseconds shown_within(const std::filesystem::path& folder);

// The script of elements that know their number from the variable `index`: the Nth works on the Nth batch of folders,
// one after the other. Pure.
std::string array_script(const ExecutorPlan& plan, const std::filesystem::path& program, std::string_view index,
    const std::vector<std::vector<std::filesystem::path>>& batches);

}  // namespace guard::nightly
