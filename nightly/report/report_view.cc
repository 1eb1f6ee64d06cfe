#include "nightly/report/report_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/text/text.h"
#include "nightly/loop/wall_clock.h"

namespace guard::nightly {
namespace {

std::int64_t busy_ms(const Attempt& attempt, std::int64_t now_ms) {
  if (attempt.started_ms <= 0) return 0;
  const std::int64_t end = attempt.ended_ms > 0 ? attempt.ended_ms
      : attempt.outcome == AttemptOutcome::none ? now_ms
                                                : attempt.started_ms;
  return std::max<std::int64_t>(0, end - attempt.started_ms);
}

// As an argument for a shell. Ids of tasks are plain words; whatever else stands there is put into quotes.
std::string argument(std::string_view text) {
  std::string word = printable(text);
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
  if (!word.empty() && word.front() != '-' && word.find_first_not_of(kPlain) == std::string::npos) return word;
  return shell_quoted(word);
}

// "a, b, c and 4 more"
std::string names_of(const std::vector<const TaskView*>& rows) {
  std::vector<std::string> names;
  for (const TaskView* row : rows) names.push_back(printable(row->task->id));
  return listed(names, 3);
}

std::vector<Step> steps_of(const ReportView& view) {
  const Night& night = view.input.night;
  std::vector<Step> steps;
  if (night.state == NightState::running) {
    steps.push_back(
        {fmt::format("Wait: the night is still running; its last step was at {}.", time_text(night.heartbeat_ms)),
            "guard nightly status"});
  } else if (view.open() > 0) {
    steps.push_back({fmt::format("Continue the night: {} {} not decided.", plural(view.open(), "task"),
                         view.open() == 1 ? "is" : "are"),
        "guard nightly resume"});
  }
  std::vector<const TaskView*> to_review, telling, earlier, given_up, unwell;
  for (const TaskView& row : view.tasks) {
    const Task& task = *row.task;
    if (task.state == TaskState::accepted && task.review == Review::none) {
      to_review.push_back(&row);
      if (row.last() != nullptr && row.last()->secrets_masked > 0) telling.push_back(&row);
    }
    if (task.state == TaskState::skipped && task.reason == "to_review") earlier.push_back(&row);
    if (task.state == TaskState::refused && task.review == Review::none && task.reason != "never_generated")
      given_up.push_back(&row);
    if (task.state == TaskState::failed) unwell.push_back(&row);
  }
  if (!telling.empty()) {
    steps.push_back(
        {fmt::format("Read before you take: the tests of {} printed secrets, which were masked.", names_of(telling)),
            {}});
  }
  if (!to_review.empty()) {
    steps.push_back({fmt::format("Review {} ({}): each change is shown, and you take, drop or send it back.",
                         plural(to_review.size(), "accepted task"), names_of(to_review)),
        "guard nightly review"});
    if (const std::string_view branch = branch_text(night); !branch.empty()) {
      steps.push_back({"Or take the whole night, unread:", fmt::format("git merge {}", argument(branch))});
    }
  }
  if (!earlier.empty())
    steps.push_back(
        {fmt::format("Review {} of earlier nights ({}).", plural(earlier.size(), "accepted task"), names_of(earlier)),
            "guard nightly review"});
  if (!unwell.empty()) {
    const std::string why = unwell.front()->task->detail;
    steps.push_back({fmt::format("Look at the generator: it failed for {} ({}); {} again in the next night.",
                         plural(unwell.size(), "task"), names_of(unwell), unwell.size() == 1 ? "it runs" : "they run"),
        {}});
    if (!why.empty()) steps.back().what += " The first of them: " + printable(why).substr(0, 300);
  }
  if (!given_up.empty()) {
    steps.push_back({fmt::format("Help with {} ({}): refused after all attempts, and not run again unless you say so. "
                                 "Tell the generator what to do otherwise:",
                         plural(given_up.size(), "task"), names_of(given_up)),
        fmt::format("guard nightly retry {} --note \"...\"", argument(given_up.front()->task->id))});
  }
  if (steps.empty()) steps.push_back({"Nothing needs you.", {}});
  return steps;
}

// What was widened, what went otherwise than usual. Numbers and our own words only.
std::vector<std::string> notices_of(const ReportView& view) {
  const ReportInput& input = view.input;
  std::vector<std::string> notices;
  const auto add = [&](std::uint64_t count, std::string_view word, std::string_view rest) {
    if (count > 0) notices.push_back(fmt::format("{} {}", plural(count, word), rest));
  };
  if (input.night.state == NightState::killed)
    notices.push_back(fmt::format("The night was killed after {}.", time_text(input.night.heartbeat_ms)));
  std::uint64_t host = 0, requeued = 0, interrupted = 0, kept = 0, masked = 0;
  std::set<std::string_view> flaky;
  for (const auto& attempt : input.attempts) {
    host += attempt.backend == "host" ? 1u : 0u;
    requeued += attempt.outcome == AttemptOutcome::requeued ? 1u : 0u;
    interrupted += attempt.outcome == AttemptOutcome::interrupted ? 1u : 0u;
    masked += attempt.secrets_masked;
    kept += attempt.kept.empty() ? 0u : 1u;
    flaky.insert(attempt.flaky.begin(), attempt.flaky.end());
  }
  std::uint64_t no_record = 0, no_worth = 0, to_host = 0, given_up = 0;
  for (const auto& row : view.tasks) {
    to_host += row.task->rollout == Rollout::host ? 1u : 0u;
    given_up += row.task->state == TaskState::skipped && row.task->reason == "given_up" ? 1u : 0u;
    if (row.task->state != TaskState::accepted) continue;
    no_record += row.last() == nullptr || row.last()->evidence.empty() ? 1u : 0u;
    no_worth += row.task->kind == TaskKind::test && (row.last() == nullptr || row.last()->mutants == 0) ? 1u : 0u;
  }
  add(masked, "secret", "masked in what tests printed.");
  add(given_up, "task",
      "not run again: refused in an earlier night after all attempts. `guard nightly retry TASK` runs one again.");
  add(host, "attempt", "ran on the host, without a sandbox.");
  add(to_host, "task", "went to the host by the roll-out.");
  add(no_record, "accepted task", "without an evidence record.");
  add(no_worth, "accepted test task", "never shown to fail on broken code: no broken version was tried.");
  add(requeued, "attempt", "requeued: the sandbox could not decide, which is not the task's fault.");
  add(interrupted, "attempt", "interrupted when the loop was stopped or killed, and run again.");
  add(flaky.size(), "test", "passed and failed on the same code tonight.");
  add(kept, "clone", "kept on the disk for you to look at.");
  return notices;
}

}  // namespace

ReportView::ReportView(const ReportInput& given) : input(given) {
  std::map<std::string_view, std::size_t> places;
  for (const auto& task : input.tasks) {
    TaskView row;
    row.task = &task;
    tasks.push_back(std::move(row));
    ++states[static_cast<std::size_t>(task.state)];
  }
  std::stable_sort(tasks.begin(), tasks.end(),
      [](const TaskView& a, const TaskView& b) { return a.task->position < b.task->position; });
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].place = i;
    places.emplace(tasks[i].task->id, i);
  }
  std::map<std::string_view, std::int64_t> by_stage;
  for (const auto& attempt : input.attempts) {
    for (const auto& [stage, ms] : attempt.timings_ms) by_stage[stage] += std::max<std::int64_t>(0, ms);
    const auto place = places.find(attempt.task);
    if (place == places.end()) continue;
    TaskView& row = tasks[place->second];
    row.attempts.push_back(&attempt);
    row.busy_ms += busy_ms(attempt, input.now_ms);
  }
  for (auto& row : tasks) {
    std::stable_sort(row.attempts.begin(), row.attempts.end(),
        [](const Attempt* a, const Attempt* b) { return a->number < b->number; });
  }
  for (const auto& [stage, ms] : by_stage) stages.emplace_back(stage, ms);
  std::stable_sort(stages.begin(), stages.end(), [](const auto& a, const auto& b) { return a.second > b.second; });

  const Night& night = input.night;
  ended_ms = night.ended_ms > 0            ? night.ended_ms
      : night.state == NightState::running ? std::max(input.now_ms, night.heartbeat_ms)
                                           : night.heartbeat_ms;
  ended_ms = std::max(ended_ms, night.started_ms);
  steps = steps_of(*this);
  notices = notices_of(*this);
}

std::vector<const TaskView*> ReportView::of(TaskState state) const {
  std::vector<const TaskView*> list;
  for (const auto& row : tasks) {
    if (row.task->state == state) list.push_back(&row);
  }
  return list;
}

std::string duration_text(std::int64_t ms) {
  if (ms < 1'000) return fmt::format("{} ms", std::max<std::int64_t>(0, ms));
  const std::int64_t seconds = ms / 1'000;
  if (seconds < 10) return fmt::format("{}.{} s", seconds, ms % 1'000 / 100);
  if (seconds < 60) return fmt::format("{} s", seconds);
  const std::int64_t minutes = seconds / 60;
  if (minutes < 60)
    return seconds % 60 == 0 ? fmt::format("{} min", minutes) : fmt::format("{} min {} s", minutes, seconds % 60);
  return minutes % 60 == 0 ? fmt::format("{} h", minutes / 60) : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string time_text(std::int64_t ms) { return utc_text(ms, "%Y-%m-%d %H:%M UTC"); }
std::string clock_text(std::int64_t ms) { return utc_text(ms, "%H:%M"); }

std::string state_text(const Night& night) {
  std::string text(to_string(night.state));
  if (!night.reason.empty()) text += fmt::format(": {}", night.reason);
  return text;
}

std::string_view branch_text(const Night& night) {
  constexpr std::string_view kHeads = "refs/heads/";
  const std::string_view name = night.branch;
  return name.starts_with(kHeads) ? name.substr(kHeads.size()) : name;
}

std::string tests_text(const Attempt& attempt) {
  if (attempt.tests_passed == 0 && attempt.tests_failed == 0 && attempt.tests_skipped == 0) return {};
  std::string text = fmt::format("{} passed", attempt.tests_passed);
  if (attempt.tests_failed > 0) text += fmt::format(", {} failed", attempt.tests_failed);
  if (attempt.tests_skipped > 0) text += fmt::format(", {} skipped", attempt.tests_skipped);
  return text;
}

std::string worth_text(const Attempt& attempt) {
  if (attempt.mutants == 0) return {};
  return fmt::format("{} of {} broken versions noticed", attempt.mutants_killed, attempt.mutants);
}

std::string outcome_text(const Attempt& attempt) {
  if (attempt.outcome == AttemptOutcome::none) return std::string(to_string(attempt.step));
  // The wire name is that of older versions.
  return attempt.outcome == AttemptOutcome::requeued ? "requeued" : std::string(to_string(attempt.outcome));
}

std::string review_word(Review review) {
  return review == Review::sent_back ? "sent back" : review == Review::none ? "" : std::string(to_string(review));
}

}  // namespace guard::nightly
