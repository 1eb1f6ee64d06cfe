// The loop: takes the tasks of a night one after the other (or several at once), until all are decided, a budget is
// used up, or somebody says stop. What it needs to go on after a kill is in the journal, and nowhere else.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "nightly/loop/attempt_run.h"

namespace guard::nightly {

struct NightEvent {
  std::string_view task;  // empty: of the night as a whole
  std::string sentence;
  bool step = false;  // one of the steps of an attempt, for a progress line; else a result
  std::size_t decided = 0;
  std::size_t tasks = 0;
};

struct NightOptions {
  const NightContext* context = nullptr;
  std::function<void(const NightEvent&)> say;  // called by one thread at a time
};

struct NightResult {
  Night night;
  std::vector<Task> tasks;
};

// A new night: `night` and its tasks go into the journal first, and the branch is made at its base. Needs the lock.
Result<NightResult> begin_night(
    const NightOptions& options, Night night, std::vector<Task> tasks, const CancelToken& cancel);

// Goes on with a night that was killed, stopped or ended before all its tasks were decided. Attempts that were under
// way are noted as interrupted and run again; a commit that was about to be made is made once. Needs the lock.
Result<NightResult> resume_night(const NightOptions& options, Night night, const CancelToken& cancel);

// Removes what a killed loop left behind: generators, clones and references. Needs the lock. Answers what could not be
// removed.
std::vector<std::string> clean_up(const NightContext& context);

// Lets go of the references that kept commits until they were on their branch, but for those of an attempt that
// resume_night() has to decide about.
Result<void> settle_references(const NightRepository& repository, const Journal& journal);

// 0 every task accepted (or not chosen), 1 every task decided, some refused or failed, 2 some undecided, 3 those
// because no environment may be used, 130 interrupted.
int exit_status(const NightResult& result);

}  // namespace guard::nightly
