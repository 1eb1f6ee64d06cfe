// The report for a terminal or a mail: short, and each task that needs a person with its reason.
#include <fmt/format.h>

#include <algorithm>

#include "common/text/text.h"
#include "nightly/report/report_view.h"
#include "nightly/report/text_style.h"

namespace guard::nightly {
namespace {

// Beyond these, the page is for reading; here it is said that there is more.
constexpr std::size_t kTasksShown = 25;
constexpr std::size_t kFindingsShown = 3;
constexpr std::size_t kRowsShown = 10;

std::string task_lines(const TaskView& row, const Painter& paint) {
  const Task& task = *row.task;
  std::string text = fmt::format("  {}", paint(kBold, shown(task.id)));
  if (!task.reason.empty() && task.state != TaskState::accepted) text += fmt::format(" ({})", shown(task.reason));
  if (!task.detail.empty()) text += fmt::format(": {}", shown(task.detail));
  std::string facts;
  const auto add = [&](const std::string& fact) {
    if (!fact.empty()) facts += (facts.empty() ? "" : "; ") + fact;
  };
  if (!task.commit.empty()) add("commit " + shown(task.commit.substr(0, 12)));
  if (const Attempt* last = row.last(); last != nullptr) {
    add(tests_text(*last));
    add(worth_text(*last));
    if (task.state == TaskState::failed && !last->generator.empty()) add("generator: " + shown(last->generator));
    if (row.masked > 0) add(plural(row.masked, "secret") + " masked");
    if (!last->kept.empty()) add("kept in " + shown(last->kept));
  }
  if (task.attempts > 1) add(plural(task.attempts, "attempt"));
  if (task.put_backs > 0) add("put back " + plural(task.put_backs, "time"));
  if (task.rollout == Rollout::host) add("on the host");
  if (task.review != Review::none) add("review: " + std::string(to_string(task.review)));
  text += "\n";
  if (!facts.empty()) text += fmt::format("    {}\n", paint(kDim, facts));
  if (task.state != TaskState::refused || row.last() == nullptr) return text;
  const auto& findings = row.last()->findings;
  for (std::size_t i = 0; i < std::min(findings.size(), kFindingsShown); ++i) {
    text += fmt::format(
        "    {} {}: {}\n", shown(place_text(findings[i])), shown(findings[i].rule), shown(findings[i].message));
    if (!findings[i].fix.empty())
      text += fmt::format("      {} {}\n", paint(kBold, "instead:"), shown(findings[i].fix));
  }
  if (findings.size() > kFindingsShown)
    text += fmt::format("    {}\n", paint(kDim, fmt::format("... and {} more", findings.size() - kFindingsShown)));
  return text;
}

}  // namespace

std::string text_report(const ReportView& view, ReportColour colour) {
  const Painter paint(colour);
  const Night& night = view.input.night;
  std::string text = fmt::format("{}   {} ({})\n", paint(kBold, "night:"), shown(night.id), shown(state_text(night)));
  if (!night.why.empty()) text += fmt::format("{}     {}\n", paint(kBold, "why:"), shown(night.why));
  text += fmt::format("{}    {} to {}, {}\n", paint(kBold, "time:"), time_text(night.started_ms),
      clock_text(view.ended_ms), duration_text(view.ended_ms - night.started_ms));
  text += fmt::format(
      "{} {} from {}\n", paint(kBold, "commits:"), shown(branch_text(night)), shown(night.base.substr(0, 12)));
  std::string counts;
  for (const TaskState state : kShownStates) {
    const std::size_t count = view.count(state);
    if (count == 0 && state != TaskState::accepted) continue;
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, paint(style_of(state), to_string(state)));
  }
  text += fmt::format("{}   {}: {}\n", paint(kBold, "tasks:"), view.tasks.size(), counts);
  for (const auto& notice : view.notices) text += fmt::format("{}    {}\n", paint(kYellow, "note:"), notice);
  text += fmt::format("\n{}\n", paint(kBold, "what to do"));
  std::size_t number = 0;
  for (const Step& step : view.steps) {
    text += fmt::format("  {}. {}\n", ++number, step.what);
    if (!step.command.empty()) text += fmt::format("     {}\n", paint(kCyan, step.command));
  }

  for (const TaskState state : kShownStates) {
    const auto rows = view.of(state);
    if (rows.empty()) continue;
    text += fmt::format("\n{}\n", paint(style_of(state), to_string(state)));
    for (std::size_t i = 0; i < std::min(rows.size(), kTasksShown); ++i) text += task_lines(*rows[i], paint);
    if (rows.size() > kTasksShown)
      text += fmt::format(
          "  {}\n", paint(kDim, fmt::format("... and {} more (--format html shows all)", rows.size() - kTasksShown)));
  }
  const auto& rules = view.input.rules;
  if (!rules.empty()) {
    text += fmt::format("\n{}\n", paint(kBold, "findings by rule"));
    for (std::size_t i = 0; i < std::min(rules.size(), kRowsShown); ++i)
      text += fmt::format("  {:>6}  {}\n", rules[i].count, shown(rules[i].rule));
    if (rules.size() > kRowsShown)
      text += fmt::format("  {}\n", paint(kDim, fmt::format("... and {} more", rules.size() - kRowsShown)));
  }
  const auto& flakes = view.input.flakes;
  if (!flakes.empty()) {
    text += fmt::format("\n{}\n", paint(kBold, "flaky tests, by nights"));
    for (std::size_t i = 0; i < std::min(flakes.size(), kRowsShown); ++i)
      text += fmt::format(
          "  {:>6}  {} (last in {})\n", flakes[i].nights, shown(flakes[i].test), shown(flakes[i].last_night));
    if (flakes.size() > kRowsShown)
      text += fmt::format("  {}\n", paint(kDim, fmt::format("... and {} more", flakes.size() - kRowsShown)));
  }
  return text;
}

}  // namespace guard::nightly
