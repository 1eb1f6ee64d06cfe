// Who gives task folders to workers. No scheduler: that is what Slurm, Kubernetes and others are there for.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
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
  // Called before the work can have begun to count: who has it now. What it can't write down ends the attempt.
  std::function<Result<void>(const std::string& job)> submitted;
  std::chrono::milliseconds time_left{0};
};

struct WorkEnd {
  enum class Kind : std::uint8_t { result, lost, out_of_time };
  Kind kind = Kind::result;
  std::string sentence;  // of lost: what is known
};

// Thread-safe: each attempt that is under way waits in work().
class Executor {
 public:
  virtual ~Executor() = default;

  // Until the folder has a result, or its worker is gone without one. CANCELLED, and whatever keeps the work from
  // being given to anybody; then nobody works on the folder any more.
  virtual Result<WorkEnd> work(const WorkOrder& order, const CancelToken& cancel) = 0;
};

// As the plan says; null: local. `program`: guard, where the plan names no other. CONFIG_INVALID where the plan asks
// for what is not installed.
Result<std::unique_ptr<Executor>> make_executor(
    const Plan& plan, const std::string& night, const std::filesystem::path& program, const Environment& environment);

// The script of elements that know their number from the variable `index`: the Nth works on the Nth batch of folders,
// one after the other. Pure.
std::string array_script(const ExecutorPlan& plan, const std::filesystem::path& program, std::string_view index,
    const std::vector<std::vector<std::filesystem::path>>& batches);

}  // namespace guard::nightly
