// The report for machines: one JSON document, versioned, only ever extended. ASCII alone, so that no direction control
// hides in it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "nightly/report/report_view.h"
#include "pipeline/report/json_parts.h"

namespace guard::nightly {
namespace {

using Json = nlohmann::ordered_json;

// Raised when a field changes its meaning or goes away.
constexpr int kVersion = 1;

Json texts(const std::vector<std::string>& list) {
  Json json = Json::array();
  for (const auto& text : list) json.push_back(clean(text));
  return json;
}

Json attempt_json(const Attempt& attempt, const AttemptFiles& files) {
  Json json = {{"number", attempt.number}, {"step", to_string(attempt.step)}, {"outcome", to_string(attempt.outcome)},
      {"reason", clean(attempt.reason)}, {"detail", clean(attempt.detail)}, {"started_ms", attempt.started_ms},
      {"ended_ms", attempt.ended_ms}, {"start", clean(attempt.start)}, {"commit", clean(attempt.commit)},
      {"backend", clean(attempt.backend)}, {"generator", clean(attempt.generator)},
      {"evidence", clean(attempt.evidence)}, {"evidence_sha256", clean(attempt.evidence_sha256)},
      {"output", clean(attempt.output)}, {"kept", clean(attempt.kept)}, {"files", texts(attempt.files)},
      {"tests",
          {{"passed", attempt.tests_passed}, {"failed", attempt.tests_failed}, {"skipped", attempt.tests_skipped}}},
      {"worth",
          {{"mutants", attempt.mutants}, {"mutants_killed", attempt.mutants_killed},
              {"lines_covered", attempt.lines_covered}, {"lines_newly_covered", attempt.lines_newly_covered}}},
      {"secrets_masked", files.masked}, {"generator_said", clean(files.said)}, {"flaky", texts(attempt.flaky)},
      {"findings", Json::array()}, {"timings_ms", Json::array()}, {"feedback", clean(attempt.feedback)},
      {"diff", clean(attempt.diff)}};
  for (const auto& finding : attempt.findings) {
    json["findings"].push_back({{"rule", clean(finding.rule)}, {"tier", clean(finding.tier)},
        {"path", clean(finding.path)}, {"line", finding.line}, {"message", clean(finding.message)},
        {"fix", clean(finding.fix)}, {"excerpt", clean(finding.excerpt)}});
  }
  for (const auto& [stage, ms] : attempt.timings_ms)
    json["timings_ms"].push_back({{"stage", clean(stage)}, {"ms", ms}});
  return json;
}

Json task_json(const ReportView& view, const TaskView& row) {
  const Task& task = *row.task;
  Json json = {{"id", clean(task.id)}, {"kind", to_string(task.kind)}, {"state", to_string(task.state)},
      {"reason", clean(task.reason)}, {"detail", clean(task.detail)}, {"attempts_counted", task.attempts},
      {"put_backs", task.put_backs}, {"commit", clean(task.commit)}, {"rollout", to_string(task.rollout)},
      {"review", to_string(task.review)}, {"note", clean(task.note)}, {"busy_ms", row.busy_ms},
      {"prompt", clean(task.prompt)}, {"attempts", Json::array()}};
  for (const Attempt* attempt : row.attempts)
    json["attempts"].push_back(attempt_json(*attempt, view.files_of(*attempt)));
  return json;
}

}  // namespace

std::string json_report(const ReportView& view) {
  const ReportInput& input = view.input;
  const Night& night = input.night;
  Json json;
  json["version"] = kVersion;
  json["summary"] = clean(summary_line(input));
  json["night"] = {{"id", clean(night.id)}, {"state", to_string(night.state)}, {"reason", clean(night.reason)},
      {"why", clean(night.why)}, {"started_ms", night.started_ms}, {"ended_ms", night.ended_ms},
      {"heartbeat_ms", night.heartbeat_ms}, {"plan", clean(night.plan_name)}, {"base", clean(night.base)},
      {"branch", clean(night.branch)}, {"rules_digest", clean(night.rules_digest)},
      {"guard_version", clean(night.guard_version)}, {"put_backs", night.put_backs}};
  json["counts"] = {{"tasks", view.tasks.size()}};
  for (const TaskState state : kShownStates) json["counts"][std::string(to_string(state))] = view.count(state);
  json["steps"] = Json::array();
  for (const Step& step : view.steps)
    json["steps"].push_back({{"what", clean(step.what)}, {"command", clean(step.command)}});
  json["notices"] = texts(view.notices);
  json["state_folder"] = clean(input.state_folder);
  json["tasks"] = Json::array();
  for (const auto& row : view.tasks) json["tasks"].push_back(task_json(view, row));
  json["findings_by_rule"] = Json::array();
  for (const auto& row : input.rules)
    json["findings_by_rule"].push_back({{"rule", clean(row.rule)}, {"count", row.count}});
  json["flaky"] = Json::array();
  for (const auto& row : input.flakes)
    json["flaky"].push_back({{"test", clean(row.test)}, {"nights", row.nights}, {"last_night", clean(row.last_night)}});
  json["trend"] = Json::array();
  for (const auto& row : input.trend) {
    json["trend"].push_back({{"night", clean(row.night)}, {"started_ms", row.started_ms}, {"ended_ms", row.ended_ms},
        {"accepted", row.accepted}, {"refused", row.refused}, {"failed", row.failed}, {"skipped", row.skipped},
        {"waiting", row.waiting}, {"attempts", row.attempts}, {"findings", row.findings}, {"flaky", row.flaky}});
  }
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace guard::nightly
