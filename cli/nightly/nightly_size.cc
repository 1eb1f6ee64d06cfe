// `guard nightly size`: what more workers would make of a night, from what its attempts took.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/nightly/nightly_parts.h"
#include "nightly/workers/sizing.h"

namespace guard {
namespace {

using nightly::Attempt;
using nightly::AttemptOutcome;
using nightly::NightSize;
using nightly::TaskTimes;
using std::chrono::milliseconds;

// A worker's own stages stand before "worker", which is how long it was waited for, and the coordinator's after it. On
// one machine a change is judged once; workers would have judged it as well.
TaskTimes times_of(const Attempt& attempt) {
  TaskTimes times;
  const auto& timings = attempt.timings_ms;
  const auto took = [](const auto& timing) {
    return milliseconds(std::clamp<std::int64_t>(timing.second, 0, 7 * 86'400'000));
  };
  const auto last =
      std::find_if(timings.rbegin(), timings.rend(), [](const auto& timing) { return timing.first == "worker"; });
  if (last != timings.rend()) {
    const auto waited = std::prev(last.base());
    for (auto timing = timings.begin(); timing != waited; ++timing) times.worker += took(*timing);
    times.worker = std::min(times.worker, took(*waited));  // the worker's word, and no more than was seen here
    for (auto timing = std::next(waited); timing != timings.end(); ++timing) times.judge += took(*timing);
    return times;
  }
  for (const auto& timing : timings) {
    const bool is_first_half = timing.first == "clone" || timing.first == "generator" || timing.first == "read";
    if (timing.first != "commit") times.worker += took(timing);
    if (!is_first_half && attempt.outcome == AttemptOutcome::accepted) times.judge += took(timing);
  }
  return times;
}

double hours(milliseconds time) { return static_cast<double>(time.count()) / 3'600'000; }

}  // namespace

Result<int> nightly_size(const Options& options, CommandContext& context) {
  CancelToken never;
  GUARD_TRY_ASSIGN(const NightlyPlace place, nightly_place(options, context, never));
  GUARD_TRY_ASSIGN(const auto journal, nightly::Journal::open(place.state.journal(), nightly::Journal::Access::read));
  GUARD_TRY_ASSIGN(const auto night, chosen_night(journal, options.night));
  GUARD_TRY_ASSIGN(const auto attempts, journal.attempts(night.id));
  std::vector<TaskTimes> seen;
  for (const Attempt& attempt : attempts) {
    if (!attempt.timings_ms.empty() && attempt.outcome != AttemptOutcome::none &&
        attempt.outcome != AttemptOutcome::interrupted)
      seen.push_back(times_of(attempt));
  }
  if (seen.empty()) {
    return Error(ErrorCode::input_invalid, fmt::format("night {} has no attempt that was measured", night.id))
        .hint("run a night of a few tasks first, or name another one with --night");
  }
  const std::size_t count = options.tasks == 0 ? seen.size() : options.tasks;
  const std::size_t limit = nightly::workers_until_judge(seen);
  std::vector<std::size_t> sizes;
  if (options.workers != 0) {
    sizes.push_back(options.workers);
  } else {
    const std::size_t most = std::min<std::size_t>(count, limit == 0 ? 64 : 2 * limit);
    for (std::size_t workers = 1; workers <= std::max<std::size_t>(most, 1); workers *= 2) sizes.push_back(workers);
  }
  auto rows = nlohmann::ordered_json::array();
  if (options.format != OutputFormat::json) {
    context.streams.out.print("{} attempts, measured on {} of night {}\n  workers     wall h  worker h  judge busy\n",
        count, seen.size(), night.id);
  }
  for (const std::size_t workers : sizes) {
    const NightSize size = nightly::size_night(seen, count, workers);
    const double busy = size.wall.count() == 0 ? 0 : hours(size.judge_busy) / hours(size.wall);
    rows.push_back({{"workers", workers}, {"wall_ms", size.wall.count()}, {"worker_busy_ms", size.worker_busy.count()},
        {"worker_paid_ms", size.worker_paid.count()}, {"judge_busy_ms", size.judge_busy.count()}});
    if (options.format != OutputFormat::json) {
      context.streams.out.print(
          "  {:>7} {:>10.2f} {:>9.2f} {:>10.0f}%\n", workers, hours(size.wall), hours(size.worker_paid), 100 * busy);
    }
  }
  if (options.format == OutputFormat::json) {
    return write_json(context,
        {{"version", 1}, {"night", night.id}, {"measured", seen.size()}, {"attempts", count},
            {"workers_until_judge", limit}, {"sizes", rows}});
  }
  if (limit != 0) {
    context.streams.out.print(
        "from {} workers on the judge is the limit: it judges one change at a time. What raises that: a faster machine "
        "for the coordinator, fewer nightly.worth_mutants and worth_runs, `tests` in the tasks that run less\n",
        limit);
  }
  return 0;
}

}  // namespace guard
