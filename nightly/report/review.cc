#include "nightly/report/review.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text/text.h"
#include "nightly/report/report_view.h"
#include "nightly/report/text_style.h"

namespace guard::nightly {
namespace {

constexpr std::size_t kFindingsShown = 20;
constexpr std::size_t kPromptLinesShown = 12;
constexpr std::size_t kIdWidthMax = 40;

ReportInput masked_tasks(
    const std::vector<Task>& tasks, const std::vector<Attempt>& attempts, const SecretSource& secrets) {
  ReportInput input;
  input.tasks = tasks;
  input.attempts = attempts;
  return masked_input(secrets, std::move(input));
}

// Each line by itself, indented; `style` answers that of a line.
template <typename Style>
std::string lines(
    std::string_view text, std::string_view indent, std::size_t lines_max, const Painter& paint, Style&& style) {
  std::string out;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == lines_max) return out + fmt::format("{}{}\n", indent, paint(kDim, "..."));
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::string_view colour = style(line);
    out += fmt::format("{}{}\n", indent, colour.empty() ? printable(line) : paint(colour, printable(line)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string diff_lines(std::string_view diff, const Painter& paint) {
  bool in_head = true;  // until a hunk begins, "---" and "+++" are names
  return lines(diff, "", std::string_view::npos, paint, [&](std::string_view line) -> std::string_view {
    if (line.starts_with("diff ")) in_head = true;
    if (line.starts_with("@@")) {
      in_head = false;
      return kCyan;
    }
    if (in_head) return kBold;
    return line.starts_with("+") ? kGreen : line.starts_with("-") ? kRed : std::string_view();
  });
}

std::string attempt_lines(const Attempt& attempt, const Painter& paint) {
  std::string text = fmt::format("{} {}: {}", paint(kBold, "attempt"), attempt.number,
      attempt.outcome == AttemptOutcome::none ? to_string(attempt.step) : to_string(attempt.outcome));
  if (!attempt.reason.empty() && attempt.reason != "accepted") text += fmt::format(" ({})", shown(attempt.reason));
  if (!attempt.detail.empty()) text += fmt::format(": {}", shown(attempt.detail));
  text += "\n";
  const auto fact = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<10} {}\n", fmt::format("{}:", name), value);
  };
  fact("time",
      attempt.ended_ms > 0
          ? fmt::format("{}, {}", time_text(attempt.started_ms), duration_text(attempt.ended_ms - attempt.started_ms))
          : time_text(attempt.started_ms));
  fact("generator", shown(attempt.generator));
  fact("ran in", attempt.backend == "host" ? "host, without a sandbox" : shown(attempt.backend));
  fact("tests", tests_text(attempt));
  fact("worth", worth_text(attempt));
  fact("covers", coverage_text(attempt));
  for (const auto& test : attempt.flaky) fact("flaky", shown(test));
  for (const auto& path : attempt.files) fact("file", shown(path));
  fact("evidence", shown(attempt.evidence));
  fact("output", shown(attempt.output));
  fact("kept", shown(attempt.kept));
  for (std::size_t i = 0; i < std::min(attempt.findings.size(), kFindingsShown); ++i) {
    const AttemptFinding& finding = attempt.findings[i];
    text += fmt::format(
        "  {} [{}] {}\n", paint(kBold, shown(place_text(finding)) + ":"), shown(finding.rule), shown(finding.message));
    if (!finding.excerpt.empty()) text += fmt::format("      {}\n", shown(finding.excerpt));
    if (!finding.fix.empty()) text += fmt::format("      {} {}\n", paint(kBold, "instead:"), shown(finding.fix));
  }
  if (attempt.findings.size() > kFindingsShown)
    text += fmt::format(
        "  {}\n", paint(kDim, fmt::format("... and {} more findings", attempt.findings.size() - kFindingsShown)));
  return text;
}

}  // namespace

std::string review_text(
    const Task& unmasked, const std::vector<Attempt>& attempts, const SecretSource& secrets, ReportColour colour) {
  const Painter paint(colour);
  const ReportInput input = masked_tasks({unmasked}, attempts, secrets);
  const Task& task = input.tasks.front();
  std::string text =
      fmt::format("{} {}", paint(kBold, shown(task.id)), paint(style_of(task.state), to_string(task.state)));
  if (!task.reason.empty() && task.state != TaskState::accepted) text += fmt::format(" ({})", shown(task.reason));
  if (task.review != Review::none)
    text += fmt::format(", {}", task.review == Review::sent_back ? "sent back" : to_string(task.review));
  text += "\n";
  if (!task.detail.empty()) text += fmt::format("  {}\n", shown(task.detail));
  if (!task.commit.empty()) text += fmt::format("  commit {}\n", shown(task.commit));
  if (task.rollout == Rollout::host) text += fmt::format("  {}\n", paint(kYellow, "went to the host by the roll-out"));
  if (task.put_backs > 0) text += fmt::format("  put back {}\n", plural(task.put_backs, "time"));
  if (!task.note.empty()) text += fmt::format("  note: {}\n", shown(task.note));
  if (!task.prompt.empty())
    text += fmt::format("\n{}\n{}", paint(kBold, "prompt"),
        lines(task.prompt, "  ", kPromptLinesShown, paint, [](std::string_view) { return std::string_view(); }));
  for (const auto& attempt : input.attempts) text += "\n" + attempt_lines(attempt, paint);
  const auto last = std::find_if(
      input.attempts.rbegin(), input.attempts.rend(), [](const Attempt& attempt) { return !attempt.diff.empty(); });
  if (last != input.attempts.rend())
    text += fmt::format(
        "\n{}\n{}", paint(kBold, fmt::format("change of attempt {}", last->number)), diff_lines(last->diff, paint));
  return text;
}

std::string review_list(const std::vector<Task>& tasks, const std::vector<Attempt>& attempts,
    const SecretSource& secrets, ReportColour colour) {
  const Painter paint(colour);
  const ReportInput input = masked_tasks(tasks, attempts, secrets);
  const ReportView view(input);
  std::size_t width = 0;
  for (const auto& task : input.tasks) width = std::max(width, std::min(shown(task.id).size(), kIdWidthMax));
  std::string text;
  for (const auto& row : view.tasks) {
    const Task& task = *row.task;
    std::string facts = task.state == TaskState::accepted ? std::string() : shown(task.reason);
    const auto add = [&](const std::string& fact) {
      if (!fact.empty()) facts += (facts.empty() ? "" : ", ") + fact;
    };
    if (const Attempt* last = row.last(); last != nullptr) {
      add(tests_text(*last));
      add(worth_text(*last));
    }
    if (task.rollout == Rollout::host) add("on the host");
    if (task.review != Review::none)
      add(task.review == Review::sent_back ? std::string("sent back") : std::string(to_string(task.review)));
    text += fmt::format("{:<{}}  {}  {}\n", shown(task.id), width,
        paint(style_of(task.state), fmt::format("{:<8}", to_string(task.state))), facts);
  }
  return text;
}

}  // namespace guard::nightly
