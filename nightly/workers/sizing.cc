#include "nightly/workers/sizing.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace guard::nightly {

using std::chrono::milliseconds;

NightSize size_night(const std::vector<TaskTimes>& seen, std::size_t attempts, std::size_t workers) {
  NightSize size;
  using Free = std::priority_queue<milliseconds, std::vector<milliseconds>, std::greater<>>;
  Free free;
  for (std::size_t i = 0; i < std::max<std::size_t>(workers, 1); ++i) free.push(milliseconds(0));
  std::vector<std::pair<milliseconds, milliseconds>> results;  // when it comes, what judging it takes
  results.reserve(attempts);
  for (std::size_t i = 0; i < attempts; ++i) {
    const TaskTimes& times = seen[i % seen.size()];
    const milliseconds done = free.top() + times.worker;
    free.pop();
    free.push(done);
    size.worker_busy += times.worker;
    results.emplace_back(done, times.judge);
  }
  std::stable_sort(results.begin(), results.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [come, judge] : results) {
    size.wall = std::max(size.wall, come) + judge;
    size.judge_busy += judge;
  }
  size.worker_paid = size.wall * static_cast<std::int64_t>(std::max<std::size_t>(workers, 1));
  return size;
}

std::size_t workers_until_judge(const std::vector<TaskTimes>& seen) {
  TaskTimes all;
  for (const auto& times : seen) {
    all.worker += times.worker;
    all.judge += times.judge;
  }
  if (all.judge.count() == 0) return 0;
  return static_cast<std::size_t>((all.worker.count() + all.judge.count() - 1) / all.judge.count());
}

}  // namespace guard::nightly
