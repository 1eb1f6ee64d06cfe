#include "nightly/loop/feedback.h"

#include <fmt/format.h>

#include "common/text/text.h"

namespace guard::nightly {
namespace {

constexpr std::size_t kOutputShown = 4 * 1024;
constexpr std::size_t kFindingsShown = 40;

}  // namespace

std::string feedback_of(const Attempt& attempt, std::string_view output) {
  std::string text = fmt::format("The last attempt at this task was not accepted: {}.\n", attempt.reason);
  if (!attempt.detail.empty()) text += printable(attempt.detail) + "\n";
  if (!attempt.files.empty()) {
    text += "\nIt changed:\n";
    for (const auto& file : attempt.files) text += fmt::format("  {}\n", printable(file));
  }
  if (!attempt.findings.empty()) text += "\nWhat was wrong, and what to do instead:\n";
  std::size_t shown = 0;
  for (const auto& finding : attempt.findings) {
    if (++shown > kFindingsShown) {
      text += fmt::format("  ... and {} more\n", attempt.findings.size() - kFindingsShown);
      break;
    }
    text += fmt::format("  {}: {} ({})\n", place_text(printable(finding.path), finding.line),
        printable(finding.message), printable(finding.rule));
    if (!finding.excerpt.empty()) text += fmt::format("    | {}\n", printable(finding.excerpt));
    if (!finding.fix.empty()) text += fmt::format("    instead: {}\n", printable(finding.fix));
  }
  if (!output.empty()) {
    if (output.size() > kOutputShown) output.remove_prefix(output.size() - kOutputShown);
    text += attempt.outcome == AttemptOutcome::failed ? "\nThe end of what you printed:\n"
                                                      : "\nThe end of what the tests said:\n";
    for (const auto line : pieces_of(output)) text += "  | " + printable(line) + "\n";
  }
  return cut_text(text, kFeedbackBytesMax, "\n(cut)\n");
}

std::string prompt_with(std::string_view brief, std::string_view prompt, std::string_view feedback) {
  std::string text = brief.empty() ? std::string(prompt) : fmt::format("{}\n## The task\n\n{}", brief, prompt);
  if (feedback.empty()) return text;
  return text +
      fmt::format(
          "\n\n----\n{}\nYour changes of the last attempt are gone: the working folder is as it was at the beginning. "
          "Do the task again.\n",
          feedback);
}

}  // namespace guard::nightly
