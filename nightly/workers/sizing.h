// How long a night takes on so many workers, from what its tasks took before. Pure: a simulation of the queue, not a
// model of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace guard::nightly {

struct TaskTimes {
  std::chrono::milliseconds worker{0};  // clone, generator and the first judgement
  std::chrono::milliseconds judge{0};   // on the tip, one at a time; 0: nothing was left to judge
};

struct NightSize {
  std::chrono::milliseconds wall{0};
  std::chrono::milliseconds worker_busy{0};  // of all workers together
  std::chrono::milliseconds worker_paid{0};  // workers x wall: whoever has machines of their own pays for waiting
  std::chrono::milliseconds judge_busy{0};
};

// Attempt N takes what `seen[N % seen.size()]` took, which must not be empty. A worker takes the next attempt when it
// has done one; results are judged in the order in which they come.
NightSize size_night(const std::vector<TaskTimes>& seen, std::size_t attempts, std::size_t workers);

// From how many workers on the judge is the limit: more of them make the night no shorter. 0: never, nothing is judged.
std::size_t workers_until_judge(const std::vector<TaskTimes>& seen);

}  // namespace guard::nightly
