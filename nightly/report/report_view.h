// What every format of the report shows, worked out once: tasks with their attempts, counts, and what a person should
// not overlook.
//
// Values of a night, still hostile but masked: whoever shows a text escapes it for its format.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nightly/report/report.h"

namespace guard::nightly {

struct TaskView {
  const Task* task = nullptr;
  std::vector<const Attempt*> attempts;  // by number
  std::size_t place = 0;                 // in ReportView::tasks
  std::int64_t busy_ms = 0;              // of all attempts

  const Attempt* last() const { return attempts.empty() ? nullptr : attempts.back(); }
};

// One thing for a person to do, the most urgent first.
struct Step {
  std::string what;     // a sentence; foreign words in it are harmless already (printable())
  std::string command;  // to be copied; empty: there is none
};

struct ReportView {
  // `input` must outlive the view.
  explicit ReportView(const ReportInput& input);

  const ReportInput& input;
  std::vector<TaskView> tasks;          // by position
  std::array<std::size_t, 6> states{};  // by TaskState
  std::int64_t ended_ms = 0;            // of a night that runs: now
  std::vector<Step> steps;
  std::vector<std::string> notices;  // sentences of ours: what was widened, what went otherwise than usual
  std::vector<std::pair<std::string, std::int64_t>> stages;  // time by stage over all attempts, the longest first

  std::size_t count(TaskState state) const { return states[static_cast<std::size_t>(state)]; }
  std::size_t open() const { return count(TaskState::waiting) + count(TaskState::running); }
  std::vector<const TaskView*> of(TaskState state) const;
};

// The order in which states are shown.
inline constexpr std::array kShownStates = {TaskState::accepted, TaskState::refused, TaskState::failed,
    TaskState::running, TaskState::waiting, TaskState::skipped};

std::string duration_text(std::int64_t ms);        // "6 h 12 min", "3 min 5 s", "12 s", "420 ms"
std::string time_text(std::int64_t ms);            // "2026-11-22 22:00 UTC"; "-" for 0
std::string clock_text(std::int64_t ms);           // "22:00"
std::string state_text(const Night& night);        // "finished", "ended: put_backs"
std::string_view branch_text(const Night& night);  // "guard/2026-11-22"

// "5 passed, 1 failed, 2 skipped"; empty: no test ran.
std::string tests_text(const Attempt& attempt);
// "6 of 8 broken versions noticed"; empty: not weighed.
std::string worth_text(const Attempt& attempt);
std::string outcome_text(const Attempt& attempt);  // of one that runs: its step
std::string review_word(Review review);            // "sent back"; empty: none

// All texts of `input` with secrets masked, but for plan_text, which no report shows and which is dropped. What cannot
// be masked becomes [WITHHELD].
ReportInput masked_input(const SecretSource& secrets, ReportInput input);

}  // namespace guard::nightly
