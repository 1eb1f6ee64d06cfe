#include "nightly/report/report_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text/text.h"
#include "nightly/report/escapes.h"
#include "pipeline/report/json_parts.h"

namespace guard::nightly {
namespace {

using Json = nlohmann::ordered_json;

// Raised when a field changes its meaning or goes away.
constexpr int kVersion = 1;
constexpr std::size_t kWhyBytesMax = 240;
constexpr std::size_t kFilesShown = 50;
constexpr std::size_t kStagesShown = 6;

// "_name": the first of a list; "_some_name": whether it holds any; "_more_name": how many more there are.
// A copy is taken of the list: what a reference into `json` leads to moves when a member is added.
void limit(Json& json, const std::string& name, Json list, std::size_t max) {
  const std::size_t shown = std::min(list.size(), max);
  json["_" + name] = Json(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(shown));
  json["_some_" + name] = !list.empty();
  json["_more_" + name] = list.size() - shown;
}

std::string joined(std::string_view a, std::string_view between, std::string_view b) {
  return fmt::format("{}{}{}", a, a.empty() || b.empty() ? "" : between, b);
}

// "findings: 2 findings in ..."
std::string why_text(std::string_view reason, std::string_view detail) {
  return joined(reason == "accepted" ? "" : reason, ": ", detail);
}

Json finding_model(const AttemptFinding& finding) {
  return {{"rule", finding.rule}, {"tier", finding.tier}, {"path", finding.path}, {"line", finding.line},
      {"message", finding.message}, {"fix", finding.fix}, {"excerpt", finding.excerpt},
      {"_place", place_text(finding.path, finding.line)}};
}

Json attempt_model(const Task& task, const Attempt& attempt, bool newest, const ModelLimits& limits) {
  Json findings = Json::array();
  Json timings = Json::array();
  std::string stages;
  for (const auto& finding : attempt.findings) findings.push_back(finding_model(finding));
  for (const auto& [stage, ms] : attempt.timings_ms) {
    timings.push_back({{"stage", stage}, {"ms", ms}});
    stages = joined(stages, ", ", fmt::format("{} {}", stage, duration_text(ms)));
  }
  Json json = {{"number", attempt.number}, {"step", to_string(attempt.step)}, {"outcome", to_string(attempt.outcome)},
      {"requeued", attempt.outcome == AttemptOutcome::requeued}, {"reason", attempt.reason}, {"detail", attempt.detail},
      {"started_ms", attempt.started_ms}, {"ended_ms", attempt.ended_ms}, {"start", attempt.start},
      {"commit", attempt.commit}, {"backend", attempt.backend}, {"generator", attempt.generator},
      {"evidence", attempt.evidence}, {"evidence_sha256", attempt.evidence_sha256}, {"output", attempt.output},
      {"kept", attempt.kept}, {"files", attempt.files},
      {"tests",
          {{"passed", attempt.tests_passed}, {"failed", attempt.tests_failed}, {"skipped", attempt.tests_skipped}}},
      {"worth",
          {{"mutants", attempt.mutants}, {"mutants_killed", attempt.mutants_killed},
              {"lines_covered", attempt.lines_covered}, {"lines_newly_covered", attempt.lines_newly_covered}}},
      {"secrets_masked", attempt.secrets_masked}, {"generator_said", attempt.generator_said}, {"flaky", attempt.flaky},
      {"findings", findings}, {"timings_ms", timings}, {"feedback", attempt.feedback}, {"diff", attempt.diff}};
  limit(json, "findings", findings, limits.findings);
  limit(json, "files", attempt.files, kFilesShown);
  limit(json, "flaky", attempt.flaky, kFilesShown);
  const std::string outcome = outcome_text(attempt);
  json["_outcome"] = outcome;
  json["_style"] = attempt.outcome == AttemptOutcome::none ? "running" : outcome;
  json["_reason"] = attempt.reason == "accepted" ? "" : attempt.reason;
  // The summary of the task has said it already, where it is the same.
  const bool said = newest && attempt.detail == task.detail && task.detail.size() <= kWhyBytesMax;
  json["_why"] = said ? "" : why_text(attempt.reason, attempt.detail);
  json["_time"] = joined(time_text(attempt.started_ms), ", ",
      attempt.ended_ms > 0 ? duration_text(attempt.ended_ms - attempt.started_ms) : "");
  json["_stages"] = stages;
  json["_on_host"] = attempt.backend == "host";
  json["_tests"] = tests_text(attempt);
  json["_worth"] = worth_text(attempt);
  json["_covers"] = attempt.lines_covered == 0
      ? ""
      : fmt::format("{} of src/, {} of them not covered before", plural(attempt.lines_covered, "line"),
            attempt.lines_newly_covered);
  json["_some_places"] = !attempt.evidence.empty() || !attempt.output.empty() || !attempt.kept.empty();
  json["_masked"] = attempt.secrets_masked == 0 ? "" : plural(attempt.secrets_masked, "secret");
  json["_newest"] = newest;
  return json;
}

// What a line of text says of the newest attempt, and of how the task went.
std::string facts_text(const TaskView& row) {
  const Task& task = *row.task;
  std::string facts;
  const auto add = [&](const std::string& fact) { facts = joined(facts, "; ", fact); };
  if (!task.commit.empty()) add("commit " + terminal_line(task.commit.substr(0, 12)));
  if (const Attempt* last = row.last(); last != nullptr) {
    add(tests_text(*last));
    add(worth_text(*last));
    if (task.state == TaskState::failed && !last->generator.empty())
      add("generator: " + terminal_line(last->generator));
    if (last->secrets_masked > 0) add(plural(last->secrets_masked, "secret") + " masked");
    if (!last->kept.empty()) add("kept in " + terminal_line(last->kept));
  }
  if (task.attempts > 1) add(plural(task.attempts, "attempt"));
  if (task.requeued > 0) add("requeued " + plural(task.requeued, "time"));
  if (task.rollout == Rollout::host) add("on the host");
  if (task.review != Review::none) add("review: " + std::string(to_string(task.review)));
  return facts;
}

Json cleaned(const Json& model) {
  if (model.is_string()) return clean(model.get_ref<const std::string&>());
  if (!model.is_structured()) return model;
  Json json = model.is_array() ? Json::array() : Json::object();
  for (const auto& [key, value] : model.items()) {
    if (model.is_array()) {
      json.push_back(cleaned(value));
    } else if (!key.starts_with('_')) {
      json[key] = cleaned(value);
    }
  }
  return json;
}

}  // namespace

Json task_model(const TaskView& row, const ModelLimits& limits) {
  const Task& task = *row.task;
  const Attempt* last = row.last();
  const std::string_view state = to_string(task.state);
  Json json = {{"id", task.id}, {"kind", to_string(task.kind)}, {"state", state}, {"reason", task.reason},
      {"detail", task.detail}, {"attempts_counted", task.attempts}, {"requeued", task.requeued},
      {"put_backs", task.requeued}, {"commit", task.commit}, {"rollout", to_string(task.rollout)},
      {"review", to_string(task.review)}, {"note", task.note}, {"busy_ms", row.busy_ms}, {"prompt", task.prompt},
      {"attempts", Json::array()}};
  for (const Attempt* attempt : row.attempts)
    json["attempts"].push_back(attempt_model(task, *attempt, attempt == last, limits));
  Json newest_first = json["attempts"];
  std::reverse(newest_first.begin(), newest_first.end());
  json["_newest_first"] = newest_first;
  json["_place"] = row.place;
  json["_open"] = task.state == TaskState::refused || task.state == TaskState::failed;
  json["_reason"] = task.state == TaskState::accepted ? "" : task.reason;
  json["_pill"] = task.state == TaskState::accepted || task.reason.empty() ? std::string(state) : task.reason;
  json["_short"] = cut_text(task.detail, kWhyBytesMax, " …");
  json["_why"] = cut_text(why_text(task.reason, task.detail), kWhyBytesMax, " …");
  json["_on_host"] = task.rollout == Rollout::host;
  json["_not_chosen"] = task.rollout == Rollout::none;
  json["_writes_tests"] = task.kind == TaskKind::test;
  json["_requeued"] = task.requeued == 0 ? "" : plural(task.requeued, "time");
  json["_masked"] = last == nullptr || last->secrets_masked == 0 ? "" : plural(last->secrets_masked, "secret");
  json["_review"] = review_word(task.review);
  json["_commit"] = task.commit.substr(0, 12);
  json["_busy"] = row.attempts.empty() ? "" : duration_text(row.busy_ms);
  json["_facts"] = facts_text(row);
  limit(json, "findings", Json::array(), 0);
  if (last != nullptr) {
    const std::uint64_t tests = last->tests_passed + last->tests_failed + last->tests_skipped;
    json["_tests_text"] = tests_text(*last);
    json["_tests"] = tests == 0 ? "" : fmt::format("{}/{}", last->tests_passed, tests);
    json["_worth"] = last->mutants == 0 ? "" : fmt::format("{}/{}", last->mutants_killed, last->mutants);
    if (task.state == TaskState::refused) {
      for (const char* name : {"_findings", "_some_findings", "_more_findings"})
        json[name] = newest_first.front()[name];
    }
  }
  return json;
}

namespace {

void add_night(const ReportView& view, Json& json) {
  const ReportInput& input = view.input;
  const Night& night = input.night;
  json["version"] = kVersion;
  json["summary"] = summary_line(input);
  json["night"] = {{"id", night.id}, {"state", to_string(night.state)}, {"reason", night.reason}, {"why", night.why},
      {"started_ms", night.started_ms}, {"ended_ms", night.ended_ms}, {"heartbeat_ms", night.heartbeat_ms},
      {"plan", night.plan_name}, {"base", night.base}, {"branch", night.branch}, {"rules_digest", night.rules_digest},
      {"guard_version", night.guard_version}, {"requeued", night.requeued}, {"put_backs", night.requeued},
      {"_state", state_text(night)}, {"_branch", branch_text(night)}, {"_base", night.base.substr(0, 12)},
      {"_rules", night.rules_digest.substr(0, 12)}, {"_begin", time_text(night.started_ms)},
      {"_end", clock_text(view.ended_ms)}, {"_length", duration_text(view.ended_ms - night.started_ms)},
      {"_attempts", input.attempts.size()}};
  json["counts"] = {{"tasks", view.tasks.size()}};
  for (const TaskState state : kShownStates) json["counts"][std::string(to_string(state))] = view.count(state);
  json["steps"] = Json::array();
  for (const Step& step : view.steps)
    json["steps"].push_back({{"what", step.what}, {"command", step.command}, {"_number", json["steps"].size() + 1}});
  json["notices"] = view.notices;
  json["state_folder"] = input.state_folder;
  json["_some_notices"] = !view.notices.empty();
  std::string stages;
  for (std::size_t i = 0; i < std::min(view.stages.size(), kStagesShown); ++i)
    stages = joined(stages, ", ", fmt::format("{} {}", view.stages[i].first, duration_text(view.stages[i].second)));
  json["_stages"] = stages;
}

// Findings, flaky tests and past nights.
void add_counts(const ReportInput& input, const ModelLimits& limits, Json& json) {
  json["findings_by_rule"] = Json::array();
  std::uint64_t most = 1, findings = 0;
  for (const auto& row : input.rules) {
    most = std::max(most, row.count);
    findings += row.count;
  }
  for (const auto& row : input.rules) {
    const double share = 100.0 * static_cast<double>(row.count) / static_cast<double>(most);
    json["findings_by_rule"].push_back({{"rule", row.rule}, {"count", row.count},
        {"_count", fmt::format("{:>6}", row.count)}, {"_share", fmt::format("{:.1f}", share)}});
  }
  json["flaky"] = Json::array();
  for (const auto& row : input.flakes) {
    json["flaky"].push_back({{"test", row.test}, {"nights", row.nights}, {"last_night", row.last_night},
        {"_nights", fmt::format("{:>6}", row.nights)}});
  }
  json["trend"] = Json::array();
  for (const auto& row : input.trend) {
    json["trend"].push_back({{"night", row.night}, {"started_ms", row.started_ms}, {"ended_ms", row.ended_ms},
        {"accepted", row.accepted}, {"refused", row.refused}, {"failed", row.failed}, {"skipped", row.skipped},
        {"waiting", row.waiting}, {"attempts", row.attempts}, {"findings", row.findings}, {"flaky", row.flaky}});
  }
  json["_findings_count"] = findings;
  json["_nights"] = plural(std::max<std::size_t>(input.trend.size(), 1), "night");
  limit(json, "findings_by_rule", json["findings_by_rule"], limits.rows);
  limit(json, "flaky", json["flaky"], limits.rows);
}

// The tasks by state, and how many of them there is no room for.
void add_groups(const ReportView& view, const ModelLimits& limits, Json& json) {
  std::size_t refused = 0, no_list = 0, no_room = 0;
  json["_groups"] = Json::array();
  for (const TaskState state : kShownStates) {
    const std::string name(to_string(state));
    Json tasks = Json::array();
    for (const TaskView* row : view.of(state)) {
      Json task = json["tasks"][row->place];
      if (state == TaskState::refused && !task["_findings"].empty() && ++refused > limits.refused) {
        task["_some_findings"] = false;
        ++no_list;
      }
      tasks.push_back(std::move(task));
    }
    const bool is_main = state == TaskState::accepted || state == TaskState::refused || state == TaskState::failed;
    Json group = {{"state", name}, {"count", tasks.size()}, {"is_main", is_main},
        {"is_refused", state == TaskState::refused}, {"_colour", colour_of(state)}};
    group["title"] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0]))) + name.substr(1);
    limit(group, "tasks", tasks, limits.tasks);
    no_room += group["_more_tasks"].get<std::size_t>();
    json["_groups"].push_back(std::move(group));
  }
  json["_some_refused"] = refused > no_list;
  json["_more_refused"] = no_list;
  json["_some_tasks"] = !view.tasks.empty();
  json["_more_tasks"] = no_room;
}

}  // namespace

Json report_model(const ReportView& view, const ModelLimits& limits) {
  Json json;
  add_night(view, json);
  json["tasks"] = Json::array();
  for (const auto& row : view.tasks) json["tasks"].push_back(task_model(row, limits));
  add_counts(view.input, limits, json);
  add_groups(view, limits, json);
  return json;
}

std::string json_document(const Json& model) {
  return cleaned(model).dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace guard::nightly
