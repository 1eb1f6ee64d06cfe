// Attempts as elements of Slurm's job arrays. Slurm says who runs where and starts again what a lost node had (that is
// harmless: a task folder has at most one result); what came of an attempt is in its folder, and nowhere else.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nightly/workers/executor.h"

namespace guard::nightly {

// `shown`: how long a result may stay unseen here once its element is over.
std::unique_ptr<Executor> make_slurm_executor(
    const ExecutorPlan& plan, NightPlace place, std::chrono::milliseconds shown);

// Pure, for tests.

// What `squeue --array --format=%F_%K|%T` prints, as element -> state. Other lines are left out.
std::map<std::string, std::string> slurm_states(std::string_view text);

// Whether an element in this state may still make something of its folders, in this run or after a requeue.
bool slurm_works(std::string_view state) noexcept;

}  // namespace guard::nightly
