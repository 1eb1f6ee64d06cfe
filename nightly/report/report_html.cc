// The report as one page that needs nothing else: no network, no script. Its policy forbids both, so that a text which
// got through the escaping could still do nothing.
//
// Summary first, then one table of all tasks, then each task folded. Filters are anchors: a style sheet hides the other
// rows.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/hash.h"
#include "common/text/base64.h"
#include "common/text/text.h"
#include "nightly/report/charts.h"
#include "nightly/report/html_text.h"
#include "nightly/report/report_style.h"
#include "nightly/report/report_view.h"

namespace guard::nightly {
namespace {

// What a browser still opens at once, and more than a person reads. The journal has the rest (--format json).
constexpr std::size_t kDiffBytesMax = 64u << 10;
constexpr std::size_t kAllDiffsBytesMax = 8u << 20;
constexpr std::size_t kTextBytesMax = 16u << 10;
constexpr std::size_t kFindingsMax = 50;
constexpr std::size_t kFilesMax = 50;
constexpr std::size_t kRowsMax = 50;
constexpr std::size_t kStagesMax = 6;
constexpr std::size_t kWhyBytesMax = 240;

std::string pill(std::string_view word, std::string_view style) {
  return fmt::format("<span class=\"pill c-{}\">{}</span>", style, html(word));
}

std::string short_text(std::string_view text, std::size_t bytes_max) {
  bool cut = false;
  const std::string_view kept = first_lines(text, bytes_max, cut);
  return html(kept) + (cut ? " …" : "");
}

std::string commit_text(std::string_view commit) {
  return commit.empty() ? std::string()
                        : fmt::format("<code title=\"{}\">{}</code>", html(commit), html(commit.substr(0, 12)));
}

std::string list_of(const std::vector<std::string>& list) {
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), kFilesMax); ++i)
    text += fmt::format("{}<code>{}</code>", i == 0 ? "" : "<br>", html(list[i]));
  if (list.size() > kFilesMax) text += fmt::format("<br>and {} more", list.size() - kFilesMax);
  return text;
}

// "findings: 2 findings in ..."
std::string why_text(std::string_view reason, std::string_view detail, std::size_t bytes_max) {
  std::string text = reason == "accepted" ? std::string() : html(reason);
  if (!detail.empty()) text += (text.empty() ? "" : ": ") + short_text(detail, bytes_max);
  return text;
}

class Page {
 public:
  explicit Page(const ReportView& view) : view_(view), input_(view.input), night_(view.input.night) {}

  std::string render() {
    head();
    header();
    add("<main>\n");
    tasks_table();
    for (const TaskState state : kShownStates) tasks_of(state);
    findings_and_flakes();
    trends();
    add("</main>\n<footer>guard {} · rules <code>{}</code> · times are UTC · files of guard are below <code>{}</code> "
        "· secrets are masked, and characters that could act are spelled out</footer>\n</body>\n</html>\n",
        html(night_.guard_version), html(night_.rules_digest.substr(0, 12)), html(input_.state_folder));
    return std::move(page_);
  }

 private:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(page_), format, std::forward<Arguments>(arguments)...);
  }

  void head() {
    Sha256 hash;
    hash.update(kReportStyle);
    const auto digest = hash.finish();
    const std::string allowed =
        base64url_encode(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
    add("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    add("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'; base-uri "
        "'none'; form-action 'none'\">\n",
        allowed);
    add("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" "
        "content=\"no-referrer\">\n");
    add("<title>guard: night {}</title>\n<style>{}</style>\n</head>\n<body>\n", html(night_.id), kReportStyle);
  }

  void header() {
    add("<header>\n<h1>Night {} {}</h1>\n", html(night_.id), pill(state_text(night_), to_string(night_.state)));
    add("<p class=\"lead\">{} to {} ({})", time_text(night_.started_ms), clock_text(view_.ended_ms),
        duration_text(view_.ended_ms - night_.started_ms));
    if (!night_.plan_name.empty()) add(" · plan <code>{}</code>", html(night_.plan_name));
    add(" · commits on <code>{}</code>", html(branch_text(night_)));
    if (!night_.base.empty()) add(" from {}", commit_text(night_.base));
    add("</p>\n");
    steps();
    if (!night_.why.empty()) add("<p>{}</p>\n", html(night_.why));
    if (!view_.notices.empty()) {
      add("<ul class=\"notices\">\n");
      for (const auto& notice : view_.notices) add("<li>{}</li>\n", html(notice));
      add("</ul>\n");
    }
    tiles();
    add("{}<h2>How the night went</h2>\n<div class=\"scroll\">{}</div>\n<ul class=\"legend\">", outcome_bar(view_),
        timeline(view_));
    for (const auto& [style, words] : {std::pair{"accepted", "accepted"}, std::pair{"refused", "refused"},
             std::pair{"failed", "generator failed"}, std::pair{"waiting", "put back or interrupted"}}) {
      add("<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"s-{}\" width=\"10\" "
          "height=\"10\"/></svg>{}</li>",
          style, words);
    }
    add("</ul>\n");
    if (!view_.stages.empty()) {
      add("<p class=\"none\">Time went to ");
      for (std::size_t i = 0; i < std::min(view_.stages.size(), kStagesMax); ++i)
        add("{}{} {}", i == 0 ? "" : ", ", html(view_.stages[i].first), duration_text(view_.stages[i].second));
      add(".</p>\n");
    }
    add("</header>\n");
  }

  void steps() {
    add("<section id=\"steps\">\n<h2>What to do</h2>\n<ol class=\"steps\">\n");
    for (const Step& step : view_.steps) {
      add("<li>{}", html(step.what));
      if (!step.command.empty()) add("<pre>{}</pre>", html(step.command));
      add("</li>\n");
    }
    add("</ol>\n</section>\n");
  }

  void tiles() {
    add("<ul class=\"tiles\">\n");
    for (const TaskState state : kShownStates) {
      const std::size_t count = view_.count(state);
      // The first three are what a night is about; the others stand there only where there are any.
      const bool always = state == TaskState::accepted || state == TaskState::refused || state == TaskState::failed;
      if (count > 0) {
        add("<li><a href=\"#{0}\"><b class=\"c-{0}\">{1}</b><span>{0}</span></a></li>\n", to_string(state), count);
      } else if (always) {
        add("<li><b>0</b><span>{}</span></li>\n", to_string(state));
      }
    }
    std::uint64_t findings = 0;
    for (const auto& row : input_.rules) findings += row.count;
    add("<li><b>{}</b><span>attempts</span></li>\n<li><b>{}</b><span>findings</span></li>\n", input_.attempts.size(),
        findings);
    if (night_.put_backs > 0) add("<li><b class=\"c-waiting\">{}</b><span>put back</span></li>\n", night_.put_backs);
    add("</ul>\n");
  }

  std::size_t place_of(const TaskView& row) const { return static_cast<std::size_t>(&row - view_.tasks.data()); }

  void tasks_table() {
    add("<section id=\"tasks\">\n");
    for (const TaskState state : kShownStates) add("<span id=\"only-{}\"></span>", to_string(state));
    add("\n<h2>Tasks <small>{}</small></h2>\n", view_.tasks.size());
    if (view_.tasks.empty()) {
      add("<p class=\"none\">There are none.</p>\n</section>\n");
      return;
    }
    add("<ul class=\"filters\"><li><a href=\"#tasks\">all <b>{}</b></a></li>", view_.tasks.size());
    for (const TaskState state : kShownStates) {
      if (view_.count(state) > 0)
        add("<li><a class=\"{0}\" href=\"#only-{0}\">{0} <b>{1}</b></a></li>", to_string(state), view_.count(state));
    }
    add("</ul>\n<table class=\"tasks\">\n<thead><tr><th>task</th><th>outcome</th><th>why</th><th "
        "class=\"n\">attempts</th><th class=\"n\">tests</th><th class=\"n\">worth</th><th "
        "class=\"n\">time</th></tr></thead>\n<tbody>\n");
    for (const auto& row : view_.tasks) {
      const Task& task = *row.task;
      const Attempt* last = row.last();
      const std::string_view state = to_string(task.state);
      std::string tests, worth;
      if (last != nullptr) {
        if (!tests_text(*last).empty())
          tests =
              fmt::format("{}/{}", last->tests_passed, last->tests_passed + last->tests_failed + last->tests_skipped);
        if (last->mutants > 0) worth = fmt::format("{}/{}", last->mutants_killed, last->mutants);
      }
      add("<tr class=\"{}\"><td class=\"id\"><a href=\"#task-{}\"><code>{}</code></a></td><td>{}</td><td "
          "class=\"why\">{}</td><td class=\"n\">{}{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
          "class=\"n\">{}</td></tr>\n",
          state, place_of(row), html(task.id), pill(state, state), why_text(task.reason, task.detail, kWhyBytesMax),
          task.attempts, task.put_backs > 0 ? fmt::format(" + {} put back", task.put_backs) : std::string(), tests,
          worth, row.attempts.empty() ? std::string() : duration_text(row.busy_ms));
    }
    add("</tbody>\n</table>\n</section>\n");
  }

  void tasks_of(TaskState state) {
    const auto rows = view_.of(state);
    if (rows.empty()) return;
    constexpr std::string_view kTitles[] = {
        "Waiting", "Running", "Accepted", "Refused", "Failed", "Skipped"};  // by TaskState
    add("<section id=\"{}\">\n<h2>{} <small>{}</small></h2>\n", to_string(state),
        kTitles[static_cast<std::size_t>(state)], rows.size());
    for (const TaskView* row : rows) task(*row);
    add("</section>\n");
  }

  void task(const TaskView& row) {
    const Task& task = *row.task;
    const std::string_view state = to_string(task.state);
    const bool open = task.state == TaskState::refused || task.state == TaskState::failed;
    add("<details class=\"task\"{}><summary><code>{}</code>{}", open ? " open" : "", html(task.id),
        pill(task.state == TaskState::accepted || task.reason.empty() ? state : std::string_view(task.reason), state));
    if (task.rollout == Rollout::host) add("{}", pill("on the host", "refused"));
    if (task.put_backs > 0) add("{}", pill(fmt::format("put back {}", plural(task.put_backs, "time")), "waiting"));
    if (row.masked > 0) add("{}", pill(plural(row.masked, "secret") + " masked", "refused"));
    if (task.review != Review::none)
      add("{}", pill(task.review == Review::sent_back ? "sent back" : to_string(task.review), "running"));
    add("<span class=\"what\">{}</span></summary>\n", short_text(task.detail, kWhyBytesMax));
    // The target is inside, because a browser opens what holds the target of a link.
    add("<div class=\"body\" id=\"task-{}\">\n<dl>", place_of(row));
    fact("kind", task.kind == TaskKind::test ? "writes tests" : "any change");
    fact("commit", commit_text(task.commit));
    if (task.rollout != Rollout::sandbox)
      fact("roll-out", task.rollout == Rollout::host ? "ran on the host, without a sandbox" : "not chosen, not run");
    fact("note", html(task.note));
    add("</dl>\n");
    folded("Prompt", task.prompt);
    for (std::size_t i = row.attempts.size(); i > 0; --i) attempt(task, *row.attempts[i - 1], i == row.attempts.size());
    if (row.attempts.empty()) add("<p class=\"none\">Not tried.</p>\n");
    add("</div>\n</details>\n");
  }

  void fact(std::string_view name, std::string_view markup) {
    if (!markup.empty()) add("<dt>{}</dt><dd>{}</dd>", name, markup);
  }

  void folded(std::string_view title, std::string_view text) {
    if (text.empty()) return;
    bool cut = false;
    const std::string_view kept = first_lines(text, kTextBytesMax, cut);
    add("<details><summary>{}</summary><pre class=\"wrap\">{}{}</pre></details>\n", title, html_lines(kept),
        cut ? "\n… (cut)" : "");
  }

  void attempt(const Task& task, const Attempt& attempt, bool newest) {
    const AttemptFiles& files = view_.files_of(attempt);
    const std::string_view outcome = to_string(attempt.outcome);
    add("<h3>Attempt {} {}</h3>\n", attempt.number,
        attempt.outcome == AttemptOutcome::none
            ? pill(to_string(attempt.step), "running")
            : pill(attempt.outcome == AttemptOutcome::put_back ? "put back" : outcome, outcome));
    // The summary has said it already, where it is the same.
    const bool said = newest && attempt.detail == task.detail && task.detail.size() <= kWhyBytesMax;
    if (const std::string why =
            why_text(attempt.reason, said ? std::string_view() : attempt.detail, attempt.detail.size() + 1);
        !why.empty() && !said)
      add("<p>{}</p>\n", why);
    add("<dl>");
    std::string time = time_text(attempt.started_ms);
    if (attempt.ended_ms > 0) time += ", " + duration_text(attempt.ended_ms - attempt.started_ms);
    std::string stages;
    for (const auto& [stage, ms] : attempt.timings_ms)
      stages += fmt::format("{}{} {}", stages.empty() ? "" : ", ", html(stage), duration_text(ms));
    fact("time", stages.empty() ? time : fmt::format("{} ({})", time, stages));
    fact("generator", html(attempt.generator));
    fact("ran in", html(attempt.backend));
    fact("tests", tests_text(attempt));
    fact("worth", worth_text(attempt));
    fact("covers", coverage_text(attempt));
    fact("flaky", list_of(attempt.flaky));
    fact("files", list_of(attempt.files));
    if (files.masked > 0) fact("masked", plural(files.masked, "secret") + " in what its tests printed");
    fact("files of guard", places(attempt));
    add("</dl>\n");
    findings(attempt);
    if (!files.said.empty())
      add("<p>The generator said last:</p>\n<pre class=\"wrap\">{}</pre>\n", html_lines(files.said));
    folded("What the next attempt was told", attempt.feedback);
    diff(attempt, newest);
  }

  // A page that was mailed can't lead there; whoever reads it at the machine knows where to look.
  std::string places(const Attempt& attempt) const {
    std::string text;
    for (const auto& [file, words] : {std::pair(&attempt.evidence, "evidence record"),
             std::pair(&attempt.output, "output of the generator"), std::pair(&attempt.kept, "kept clone")}) {
      if (!file->empty()) text += fmt::format("{}{}: <code>{}</code>", text.empty() ? "" : "<br>", words, html(*file));
    }
    return text;
  }

  void findings(const Attempt& attempt) {
    if (attempt.findings.empty()) return;
    add("<ul class=\"findings\">\n");
    for (std::size_t i = 0; i < std::min(attempt.findings.size(), kFindingsMax); ++i) {
      const AttemptFinding& finding = attempt.findings[i];
      add("<li><b>{}</b>: {} <span class=\"lead\">({}, {})</span>", html(place_text(finding)), html(finding.message),
          html(finding.rule), html(finding.tier));
      if (!finding.excerpt.empty()) add("<pre>{}</pre>", html_lines(finding.excerpt));
      if (!finding.fix.empty()) add("<p class=\"fix\"><b>Instead:</b> {}</p>", html(finding.fix));
      add("</li>\n");
    }
    if (attempt.findings.size() > kFindingsMax)
      add("<li>and {} more (--format json lists them all)</li>\n", attempt.findings.size() - kFindingsMax);
    add("</ul>\n");
  }

  void diff(const Attempt& attempt, bool newest) {
    if (attempt.diff.empty()) return;
    bool cut = false;
    std::string_view rest = first_lines(attempt.diff, kDiffBytesMax, cut);
    if (diff_bytes_ + rest.size() > kAllDiffsBytesMax) {
      add("<p class=\"none\">The diff is left out: the page is large enough. guard nightly review shows it.</p>\n");
      return;
    }
    diff_bytes_ += rest.size();
    add("<details{}><summary>Diff</summary><pre class=\"diff\">",
        newest && attempt.outcome == AttemptOutcome::accepted ? " open" : "");
    bool in_head = true;  // until a hunk begins, "---" and "+++" are names
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      if (line.starts_with("diff ")) in_head = true;
      std::string_view style;
      if (line.starts_with("@@")) {
        in_head = false;
        style = " class=\"dh\"";
      } else if (in_head) {
        style = " class=\"dm\"";
      } else if (line.starts_with("+")) {
        style = " class=\"da\"";
      } else if (line.starts_with("-")) {
        style = " class=\"dd\"";
      }
      add("<span{}>{}\n</span>", style, html(line));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    add("</pre>{}</details>\n", cut ? "<p class=\"none\">Cut; the commit or the kept clone has the rest.</p>" : "");
  }

  void findings_and_flakes() {
    add("<div class=\"two\">\n<section id=\"rules\">\n<h2>Findings by rule</h2>\n");
    if (input_.rules.empty()) {
      add("<p class=\"none\">No finding.</p>\n");
    } else {
      std::uint64_t most = 1;
      for (const auto& row : input_.rules) most = std::max(most, row.count);
      add("<table><tbody>\n");
      for (std::size_t i = 0; i < std::min(input_.rules.size(), kRowsMax); ++i) {
        const auto& row = input_.rules[i];
        add("<tr><td><code>{}</code></td><td class=\"bar\"><svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" "
            "aria-hidden=\"true\"><rect class=\"s-refused\" width=\"{:.1f}\" height=\"8\"/></svg></td><td "
            "class=\"n\">{}</td></tr>\n",
            html(row.rule), 100.0 * static_cast<double>(row.count) / static_cast<double>(most), row.count);
      }
      add("</tbody></table>\n");
      if (input_.rules.size() > kRowsMax)
        add("<p class=\"none\">and {} more rules</p>\n", input_.rules.size() - kRowsMax);
    }
    add("</section>\n<section id=\"flaky\">\n<h2>Flaky tests <small>over {}</small></h2>\n",
        plural(std::max<std::size_t>(input_.trend.size(), 1), "night"));
    if (input_.flakes.empty()) {
      add("<p class=\"none\">None was seen.</p>\n");
    } else {
      add("<table><thead><tr><th>test</th><th class=\"n\">nights</th><th class=\"n\">last</th></tr></thead><tbody>\n");
      for (std::size_t i = 0; i < std::min(input_.flakes.size(), kRowsMax); ++i) {
        const auto& row = input_.flakes[i];
        add("<tr><td><code>{}</code></td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n", html(row.test),
            row.nights, html(row.last_night));
      }
      add("</tbody></table>\n");
      if (input_.flakes.size() > kRowsMax)
        add("<p class=\"none\">and {} more tests</p>\n", input_.flakes.size() - kRowsMax);
    }
    add("</section>\n</div>\n");
  }

  void trends() {
    const auto& trend = input_.trend;
    add("<section id=\"trends\">\n<h2>Over the nights <small>the newest at the right</small></h2>\n");
    if (trend.size() < 2) {
      add("<p class=\"none\">Trends begin with the second night.</p>\n</section>\n");
      return;
    }
    const auto series = [&](std::string_view title, auto&& value, auto&& text) {
      Series made;
      made.title = title;
      for (std::size_t i = trend.size(); i > 0; --i) {
        const std::uint64_t number = value(trend[i - 1]);
        made.values.push_back(number);
        made.texts.push_back(text(number));
        made.nights.push_back(trend[i - 1].night);
      }
      add("<figure><figcaption>{} <b>{}</b></figcaption>{}</figure>\n", title, html(made.texts.back()),
          bars_over_nights(made));
    };
    const auto plain = [](std::uint64_t number) { return fmt::format("{}", number); };
    const auto& newest = trend.front();
    add("<div class=\"trends\">\n<figure><figcaption>accepted <b>{} of {}</b></figcaption>{}</figure>\n",
        newest.accepted, newest.accepted + newest.refused + newest.failed + newest.skipped + newest.waiting,
        outcomes_over_nights(trend));
    series(
        "attempts", [](const Journal::NightSums& row) { return row.attempts; }, plain);
    series(
        "findings", [](const Journal::NightSums& row) { return row.findings; }, plain);
    series(
        "flaky tests", [](const Journal::NightSums& row) { return row.flaky; }, plain);
    series(
        "length",
        [](const Journal::NightSums& row) {
          return static_cast<std::uint64_t>(row.ended_ms > row.started_ms ? row.ended_ms - row.started_ms : 0);
        },
        [](std::uint64_t ms) {
          return ms == 0 ? std::string("not ended") : duration_text(static_cast<std::int64_t>(ms));
        });
    add("</div>\n</section>\n");
  }

  const ReportView& view_;
  const ReportInput& input_;
  const Night& night_;
  std::string page_;
  std::size_t diff_bytes_ = 0;
};

}  // namespace

std::string html_report(const ReportView& view) { return Page(view).render(); }

}  // namespace guard::nightly
