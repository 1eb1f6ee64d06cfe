// The forms of a report: a template each, filled with the model (report_model.h), and how much of it each shows.
#include <fmt/format.h>
#include <algorithm>

#include "common/hash.h"
#include "common/text/base64.h"
#include "common/text/template.h"
#include "common/text/text.h"
#include "nightly/report/charts.h"
#include "nightly/report/escapes.h"
#include "nightly/report/report.h"
#include "nightly/report/report_model.h"

extern "C" {
extern const char guard_page_html[], guard_page_html_end[];
extern const char guard_page_css[], guard_page_css_end[];
extern const char guard_report_md[], guard_report_md_end[];
extern const char guard_report_txt[], guard_report_txt_end[];
extern const char guard_review_txt[], guard_review_txt_end[];
}

namespace guard::nightly {
namespace {

using Json = nlohmann::ordered_json;

// Of the page: what a browser still opens at once, and more than a person reads. The journal has the rest (--format
// json).
constexpr std::size_t kDiffBytesMax = 64u << 10;
constexpr std::size_t kAllDiffsBytesMax = 8u << 20;
constexpr std::size_t kTextBytesMax = 16u << 10;
constexpr ModelLimits kPageLimits = {SIZE_MAX, SIZE_MAX, 50, 50};
// Beyond these the page is for reading; the text says that there is more.
constexpr ModelLimits kTextLimits = {25, SIZE_MAX, 3, 10};
constexpr ModelLimits kMarkdownLimits = {SIZE_MAX, SIZE_MAX, 5, 10};
// A comment may have 65,536 characters.
constexpr std::size_t kCommentBytesMax = 60'000;
constexpr ModelLimits kReviewLimits = {1, 1, 20, 0};
constexpr std::size_t kPromptLinesShown = 12;

std::string diff_markup(std::string_view diff) {
  constexpr std::string_view kClasses[] = {"", " class=\"dm\"", " class=\"dh\"", " class=\"da\"", " class=\"dd\""};
  std::string out;
  for_each_diff_line(diff, [&](DiffLine kind, std::string_view line) {
    out += fmt::format("<span{}>{}\n</span>", kClasses[static_cast<std::size_t>(kind)], html(line));
  });
  return out;
}

// What a page can't take whole, cut.
void fold(Json& json, const std::string& name) {
  bool cut = false;
  json["_" + name] = first_lines(json[name].get_ref<const std::string&>(), kTextBytesMax, cut);
  json["_cut_" + name] = cut;
}

std::string html_report(const ReportView& view) {
  Json model = report_model(view, kPageLimits);
  std::size_t diff_bytes = 0;
  for (Json& group : model["_groups"]) {
    for (Json& task : group["_tasks"]) {
      fold(task, "prompt");
      for (Json& attempt : task["_newest_first"]) {
        fold(attempt, "feedback");
        bool cut = false;
        const std::string_view diff = first_lines(attempt["diff"].get_ref<const std::string&>(), kDiffBytesMax, cut);
        const bool fits = diff_bytes + diff.size() <= kAllDiffsBytesMax;
        attempt["_left_out"] = !fits;
        if (!fits) continue;
        diff_bytes += diff.size();
        attempt["_diff"] = diff_markup(diff);
        attempt["_diff_cut"] = cut;
        attempt["_diff_open"] = attempt["_newest"].get<bool>() && attempt["outcome"] == "accepted";
      }
    }
  }
  const std::string_view style(guard_page_css, guard_page_css_end);
  Sha256 hash;
  hash.update(style);
  const auto digest = hash.finish();
  model["_style"] = style;
  model["_style_digest"] =
      base64url_encode(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
  model["_outcomes"] = outcome_chart(view);
  model["_timeline"] = timeline_chart(view);
  model["_trends"] = trend_charts(view.input.trend);
  return fill_template({guard_page_html, guard_page_html_end}, model, {html, html_lines});
}

// What there is no room for in a comment is counted.
std::string markdown_report(const ReportView& view) {
  ModelLimits limits = kMarkdownLimits;
  for (std::size_t rows = view.tasks.size();;) {
    std::string text =
        fill_template({guard_report_md, guard_report_md_end}, report_model(view, limits), {markdown_cell, markdown});
    if (text.size() <= kCommentBytesMax || rows == 0) return text;
    rows = std::min(rows * 3 / 4, rows * kCommentBytesMax / text.size());
    limits.tasks = limits.refused = rows;
  }
}

// Colours that a template names: {{&bold}}...{{&off}}.
void add_colours(Json& model, Colour colour) {
  for (const auto& [name, style] :
      {std::pair{"bold", kBold}, std::pair{"dim", kDim}, std::pair{"cyan", kCyan}, std::pair{"yellow", kYellow},
          std::pair{"green", kGreen}, std::pair{"red", kRed}, std::pair{"off", std::string_view("0")}})
    model[name] = colour == Colour::on ? fmt::format("\x1b[{}m", style) : "";
}

std::string text_report(const ReportView& view, Colour colour) {
  Json model = report_model(view, kTextLimits);
  add_colours(model, colour);
  std::string counts;
  for (Json& group : model["_groups"]) {
    const std::string state = Painter{colour}(group["_colour"].get<std::string>(), group["state"].get<std::string>());
    if (group["count"] != 0 || group["state"] == "accepted")
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", group["count"].get<std::size_t>(), state);
    group["_painted"] = state;
  }
  model["_counts"] = counts;
  return fill_template({guard_report_txt, guard_report_txt_end}, model, {terminal_line, nullptr});
}

ReportInput masked_tasks(
    const std::vector<Task>& tasks, const std::vector<Attempt>& attempts, const SecretSource& secrets) {
  ReportInput input;
  input.tasks = tasks;
  input.attempts = attempts;
  return masked_input(secrets, std::move(input));
}

}  // namespace

Result<std::string> render_report(
    const ReportInput& input, ReportFormat format, const SecretSource& secrets, Colour colour) {
  const ReportInput masked = masked_input(secrets, input);
  const ReportView view(masked);
  switch (format) {
    case ReportFormat::text: return text_report(view, colour);
    case ReportFormat::markdown: return markdown_report(view);
    case ReportFormat::html: return html_report(view);
    case ReportFormat::json: return json_document(report_model(view, {}));
  }
  return Error(ErrorCode::internal, "a report of no known format");
}

std::string review_text(
    const Task& task, const std::vector<Attempt>& attempts, const SecretSource& secrets, Colour colour) {
  const ReportInput input = masked_tasks({task}, attempts, secrets);
  const ReportView view(input);
  const TaskView& row = view.tasks.front();
  Json model = task_model(row, kReviewLimits);
  add_colours(model, colour);
  model["_painted"] = Painter{colour}(colour_of(task.state), to_string(task.state));
  Json lines = Json::array();
  for (const auto line : pieces_of(row.task->prompt)) lines.push_back(printable(line));
  model["_more_prompt"] = lines.size() > kPromptLinesShown;
  if (lines.size() > kPromptLinesShown) lines.erase(lines.begin() + kPromptLinesShown, lines.end());
  model["_prompt"] = lines;
  const auto last = std::find_if(
      row.attempts.rbegin(), row.attempts.rend(), [](const Attempt* attempt) { return !attempt->diff.empty(); });
  if (last != row.attempts.rend()) {
    constexpr std::string_view kColours[] = {"", kBold, kCyan, kGreen, kRed};
    std::string diff;
    for_each_diff_line((*last)->diff, [&](DiffLine kind, std::string_view line) {
      diff += Painter{colour}(kColours[static_cast<std::size_t>(kind)], printable(line)) + "\n";
    });
    model["_change"] = {{"number", (*last)->number}, {"diff", diff}};
  }
  return fill_template({guard_review_txt, guard_review_txt_end}, model, {terminal_line, nullptr});
}

std::string review_list(
    const std::vector<Task>& tasks, const std::vector<Attempt>& attempts, const SecretSource& secrets, Colour colour) {
  constexpr std::size_t kIdWidthMax = 40;
  const ReportInput input = masked_tasks(tasks, attempts, secrets);
  const ReportView view(input);
  std::size_t width = 0;
  for (const auto& task : input.tasks) width = std::max(width, std::min(terminal_line(task.id).size(), kIdWidthMax));
  std::string text;
  for (const auto& row : view.tasks) {
    const Task& task = *row.task;
    const Attempt* last = row.last();
    std::string facts;
    for (const std::string& fact : {task.state == TaskState::accepted ? "" : terminal_line(task.reason),
             last == nullptr ? "" : tests_text(*last), last == nullptr ? "" : worth_text(*last),
             std::string(task.rollout == Rollout::host ? "on the host" : ""), review_word(task.review)}) {
      if (!fact.empty()) facts += (facts.empty() ? "" : ", ") + fact;
    }
    text += fmt::format("{:<{}}  {}  {}\n", terminal_line(task.id), width,
        Painter{colour}(colour_of(task.state), fmt::format("{:<8}", to_string(task.state))), facts);
  }
  return text;
}

}  // namespace guard::nightly
