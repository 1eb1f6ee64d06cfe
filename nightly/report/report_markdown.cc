// The report as a comment on a pull request: summary, a table of the tasks, and why tasks were refused. The diffs are
// in the request.
//
// Foreign words are prose here, with all that means something to Markdown escaped, and no HTML: a code span would end
// at the backticks that it holds, in the readers that count them differently. "@" and "#" are kept from naming people
// and issues.
#include <fmt/format.h>

#include <algorithm>

#include "common/text/text.h"
#include "nightly/report/report_view.h"

namespace guard::nightly {
namespace {

// A comment may have 65,536 characters.
constexpr std::size_t kBytesMax = 60'000;
constexpr std::size_t kTableBytesMax = 36'000;
constexpr std::size_t kCellBytesMax = 160;
constexpr std::size_t kFindingsShown = 5;
constexpr std::size_t kRowsShown = 10;

// Whether a character needs a backslash: it means something in Markdown, or makes a link of a bare address.
bool is_special(std::string_view line, std::size_t at) {
  const char c = line[at];
  if (std::string_view("\\`*_[]|~$").find(c) != std::string_view::npos) return true;
  if (c == ':') return at + 1 < line.size() && line[at + 1] != ' ';
  if (c == '.') return at > 0 && (line[at - 1] == 'w' || line[at - 1] == 'W');
  return at == 0 && std::string_view("-+=!").find(c) != std::string_view::npos;
}

std::string escaped(std::string_view text) {
  std::string out;
  const std::string line = printable(text);
  for (std::size_t i = 0; i < line.size(); ++i) {
    switch (line[i]) {
      case '<': out += "&lt;"; continue;
      case '>': out += "&gt;"; continue;
      case '&': out += "&amp;"; continue;
      case '@': out += "@&#8203;"; continue;
      case '#': out += "\\#&#8203;"; continue;
      case '\t': out += ' '; continue;
      default: break;
    }
    if (is_special(line, i)) out += '\\';
    out += line[i];
  }
  return out;
}

// Cut before it is escaped, between characters.
std::string cell(std::string_view text) {
  if (text.size() <= kCellBytesMax) return escaped(text);
  std::size_t end = kCellBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return escaped(text.substr(0, end)) + " …";
}

std::string task_row(const TaskView& row) {
  const Task& task = *row.task;
  const Attempt* last = row.last();
  std::string why = task.state == TaskState::accepted ? std::string() : cell(task.reason);
  if (!task.detail.empty()) why += (why.empty() ? "" : ": ") + cell(task.detail);
  std::string outcome(to_string(task.state));
  if (task.rollout == Rollout::host) outcome += ", on the host";
  if (task.put_backs > 0) outcome += fmt::format(", put back {}", plural(task.put_backs, "time"));
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", cell(task.id), outcome, why, task.attempts,
      last == nullptr ? "" : tests_text(*last),
      last == nullptr || last->mutants == 0 ? "" : fmt::format("{}/{}", last->mutants_killed, last->mutants));
}

std::string findings_list(const TaskView& row) {
  const Attempt* last = row.last();
  if (last == nullptr || last->findings.empty()) return {};
  std::string text = fmt::format("\n**{}**\n\n", cell(row.task->id));
  for (std::size_t i = 0; i < std::min(last->findings.size(), kFindingsShown); ++i) {
    const auto& finding = last->findings[i];
    text += fmt::format("- at {} ({}): {}", cell(place_text(finding)), cell(finding.rule), cell(finding.message));
    if (!finding.fix.empty()) text += fmt::format(". Instead: {}", cell(finding.fix));
    text += "\n";
  }
  if (last->findings.size() > kFindingsShown)
    text += fmt::format("- and {} more\n", last->findings.size() - kFindingsShown);
  return text;
}

// Adds pieces as long as there is room, and counts those that there was none for.
class Room {
 public:
  Room(std::string& text, std::size_t bytes_max) : text_(text), bytes_max_(bytes_max) {}
  void add(const std::string& piece) {
    if (left_ == 0 && text_.size() + piece.size() <= bytes_max_) {
      text_ += piece;
    } else {
      ++left_;
    }
  }
  std::size_t left() const { return left_; }

 private:
  std::string& text_;
  std::size_t bytes_max_;
  std::size_t left_ = 0;
};

}  // namespace

std::string markdown_report(const ReportView& view) {
  const Night& night = view.input.night;
  std::string text = fmt::format(
      "## Night {}: {} of {} accepted\n\n", cell(night.id), view.count(TaskState::accepted), view.tasks.size());
  text += fmt::format("{}; {} to {}, {}. Commits on {}, from {}.\n\n", cell(state_text(night)),
      time_text(night.started_ms), clock_text(view.ended_ms), duration_text(view.ended_ms - night.started_ms),
      cell(branch_text(night)), cell(night.base.substr(0, 12)));
  if (!night.why.empty()) text += fmt::format("Why it ended: {}\n\n", cell(night.why));
  text += "### What to do\n\n";
  for (const Step& step : view.steps) {
    text +=
        fmt::format("- {}{}\n", escaped(step.what), step.command.empty() ? std::string() : " " + escaped(step.command));
  }
  text += "\n";
  for (const auto& notice : view.notices) text += fmt::format("- {}\n", notice);
  if (!view.notices.empty()) text += "\n";

  // What is small comes first, so that it is never what there is no room for.
  const auto& rules = view.input.rules;
  const auto& flakes = view.input.flakes;
  std::string ending;
  if (!rules.empty()) {
    ending += "\n### Findings by rule\n\n| rule | findings |\n|---|--:|\n";
    for (std::size_t i = 0; i < std::min(rules.size(), kRowsShown); ++i)
      ending += fmt::format("| {} | {} |\n", cell(rules[i].rule), rules[i].count);
    if (rules.size() > kRowsShown) ending += fmt::format("\nand {} more rules\n", rules.size() - kRowsShown);
  }
  if (!flakes.empty()) {
    ending += "\n### Flaky tests\n\n| test | nights | last |\n|---|--:|---|\n";
    for (std::size_t i = 0; i < std::min(flakes.size(), kRowsShown); ++i)
      ending += fmt::format("| {} | {} | {} |\n", cell(flakes[i].test), flakes[i].nights, cell(flakes[i].last_night));
    if (flakes.size() > kRowsShown) ending += fmt::format("\nand {} more tests\n", flakes.size() - kRowsShown);
  }

  if (!view.tasks.empty()) {
    text += "| task | outcome | why | attempts | tests | worth |\n|---|---|---|--:|---|--:|\n";
    Room room(text, kTableBytesMax);
    for (const TaskState state : kShownStates) {
      for (const TaskView* row : view.of(state)) room.add(task_row(*row));
    }
    if (room.left() > 0) text += fmt::format("\nand {} more tasks, for which a comment has no room.\n", room.left());
  }
  if (const auto refused = view.of(TaskState::refused); !refused.empty()) {
    std::string lists;
    Room room(lists, kBytesMax - std::min(kBytesMax, text.size() + ending.size() + 200));
    for (const TaskView* row : refused) {
      if (const std::string list = findings_list(*row); !list.empty()) room.add(list);
    }
    if (!lists.empty()) text += "\n### What was refused, and what to write instead\n" + lists;
    if (room.left() > 0)
      text += fmt::format("\nand {} more refused tasks, for which a comment has no room.\n", room.left());
  }
  return text + ending;
}

}  // namespace guard::nightly
