#include "pipeline/report/report_json.h"

#include <nlohmann/json.hpp>

#include "pipeline/report/json_parts.h"
#include "pipeline/report/rule_page.h"

namespace guard {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

// What to do next: an error knows better than the table.
std::string next_step(const Verdict& verdict, const std::optional<Error>& error) {
  return error && !error->hint().empty() ? clean(error->hint()) : std::string(info(verdict.reason).next);
}

Json verdict_json(const Verdict& verdict, const std::optional<Error>& error) {
  const ReasonInfo& row = info(verdict.reason);
  Json json;
  json["version"] = kVersion;
  json["verdict"] = to_string(verdict.kind());
  json["reason"] = row.name;
  json["message"] =
      clean(verdict.detail.empty() ? std::string(row.sentence) : std::string(row.sentence) + ": " + verdict.detail);
  if (const std::string next = next_step(verdict, error); !next.empty()) json["next"] = next;
  return json;
}

Json finding_json(const Finding& finding) {
  Json json;
  json["rule"] = finding.rule;
  json["tier"] = to_string(finding.tier);
  json["severity"] = finding.severity == Severity::block ? "block" : "note";
  json["path"] = clean(finding.path);
  json["line"] = finding.line;
  json["column"] = finding.column;
  json["excerpt"] = clean(finding.excerpt);
  json["message"] = clean(finding.message);
  json["fix"] = finding.fix;
  if (!finding.confirmed) json["confirmed"] = false;
  if (!finding.matched.empty()) json["matched"] = clean(finding.matched);
  json["fingerprint"] = finding.fingerprint;
  json["doc"] = rule_page(finding.rule, finding.tier);
  return json;
}

Json waivers_json(const std::vector<UsedWaiver>& waivers) {
  Json list = Json::array();
  for (const auto& used : waivers) {
    list.push_back({{"rule", used.waiver.rule}, {"path", clean(used.waiver.path)},
        {"reason", clean(used.waiver.reason)}, {"expires", used.waiver.expires}, {"findings", used.findings}});
  }
  return list;
}

Json idle_waivers_json(const std::vector<IdleWaiver>& waivers) {
  Json list = Json::array();
  for (const auto& idle : waivers) {
    list.push_back({{"rule", idle.waiver.rule}, {"path", clean(idle.waiver.path)}, {"expires", idle.waiver.expires},
        {"why", to_string(idle.why)}, {"message", clean(idle.sentence)}});
  }
  return list;
}

Json waived_json(const std::vector<WaivedFinding>& waived) {
  Json list = Json::array();
  for (const auto& row : waived) {
    Json json = finding_json(row.finding);
    json["reason"] = clean(row.waiver.reason);
    json["expires"] = row.waiver.expires;
    list.push_back(std::move(json));
  }
  return list;
}

Json check_json(const CheckRecord& record) {
  Json json = verdict_json(record.verdict, record.error);
  json["mode"] = record.mode;
  json["tiers"] = record.tiers;
  json["files"] = record.report.files;
  json["bytes"] = record.report.bytes;
  json["secrets_only"] = record.secrets_only;
  json["ignored_files"] = record.ignored_files;
  json["passed_over"] = record.ignored_files;  // its name until the next version of the document
  json["known"] = record.known;
  if (record.change) {
    json["change"] = {{"files", record.change->files}, {"lines_added", record.change->lines_added},
        {"lines_removed", record.change->lines_removed}};
  }
  json["rules_digest"] = record.rules_digest;
  json["findings"] = Json::array();
  for (const auto& finding : record.report.findings) json["findings"].push_back(finding_json(finding));
  if (!record.waivers.empty()) json["waivers"] = waivers_json(record.waivers);
  if (!record.idle_waivers.empty()) json["waivers_idle"] = idle_waivers_json(record.idle_waivers);
  if (!record.waived.empty()) json["waived"] = waived_json(record.waived);
  if (record.error) json["error"] = error_json(*record.error);
  return json;
}

Json tests_json(const RunRecord& record) {
  static const TestSummary kNone;
  const TestSummary& tests = record.tests ? *record.tests : kNone;
  Json json = {{"passed", tests.passed}, {"failed", tests.failures}, {"skipped", tests.skipped},
      {"files", tests.files.size()}, {"assertions", tests.assertions}};
  json["failures"] = Json::array();
  for (const Failure& failure : failures_of(record)) {
    Json row = {{"file", clean(failure.file)}, {"line", failure.line}, {"column", failure.column},
        {"name", clean(failure.test)}, {"kind", failure.kind}, {"message", clean(failure.message)}};
    if (!failure.next.empty()) row["next"] = failure.next;
    json["failures"].push_back(std::move(row));
  }
  return json;
}

double milliseconds_of(std::chrono::microseconds time) { return static_cast<double>(time.count()) / 1000; }

Json case_json(const TestCase& test) {
  return {{"name", clean(test.name)}, {"state", to_string(test.state)}, {"line", test.line},
      {"assertions", test.assertions}, {"duration_ms", milliseconds_of(test.duration)}};
}

// What came of each file and test.
Json results_json(const RunRecord& record) {
  Json results = Json::array();
  const ReportIndex index(record);
  for (const FileResult& result : record.files) {
    Json json = {{"file", clean(result.file)}, {"state", to_string(result.state)}};
    if (is_failure(result.state)) {
      json["reason"] = info(result.reason).name;
      json["message"] = clean(result.detail.empty() ? std::string(info(result.reason).sentence) : result.detail);
    }
    if (!result.last_test.empty()) json["last_test"] = clean(result.last_test);
    if (const TestFileSummary* row = index.counts(result.file)) {
      json["assertions"] = row->assertions;
      json["duration_ms"] = milliseconds_of(row->duration);
      json["tests"] = Json::array();
      for (const TestCase* test : index.cases(result.file)) json["tests"].push_back(case_json(*test));
    }
    results.push_back(std::move(json));
  }
  return results;
}

Json coverage_json(const LineCoverage& coverage) {
  Json list = Json::array();
  for (const auto& [file, lines] : coverage)
    list.push_back({{"file", clean(file)}, {"lines", lines.size()}, {"covered", count_covered(lines)},
        {"not_covered", uncovered_ranges(lines)}});
  return list;
}

Json exec_json(const ExecResult& exec) {
  Json json;
  json["outcome"] = to_string(exec.outcome.kind);
  json["value"] = exec.outcome.value;
  if (!exec.outcome.detail.empty()) json["detail"] = clean(exec.outcome.detail);
  json["cpu_ms"] = exec.cpu.count();
  json["memory_peak_bytes"] = exec.memory_peak_bytes;
  json["stdout_bytes"] = exec.stdout_bytes;
  json["stderr_bytes"] = exec.stderr_bytes;
  if (exec.attested) json["attested"] = attested_json(*exec.attested);
  json["seen_inside"] = Json::object();
  for (const auto& [key, value] : exec.seen_inside) json["seen_inside"][clean(key)] = clean(value);
  json["enforced_by"] = Json::object();
  for (const auto& [key, value] : exec.enforced_by) json["enforced_by"][key] = value;
  return json;
}

Json collected_json(const CollectRecord& record) {
  Json json;
  json["mode"] = to_string(record.policy);
  json["files"] = Json::array();
  for (const auto& file : record.files)
    json["files"].push_back({{"path", clean(file.path)}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  json["left_behind"] = Json::array();
  for (const auto& entry : record.left_behind)
    json["left_behind"].push_back({{"path", clean(entry.path)}, {"reason", to_string(entry.reason)}});
  json["left_behind_count"] = record.left_behind_count;
  json["complete"] = record.complete;
  return json;
}

}  // namespace

std::string check_document(const CheckRecord& record) { return dump(check_json(record)); }

std::string run_document(const RunRecord& record) {
  Json json = verdict_json(record.verdict, record.error);
  json["backend"] = record.backend;
  json["why_backend"] = clean(record.why_backend);
  json["tiers"] = record.tiers;
  json["tests"] = tests_json(record);
  json["results"] = results_json(record);
  if (record.lines) json["coverage"] = coverage_json(*record.lines);
  json["check"] = record.check ? check_json(*record.check) : Json(nullptr);
  json["output"] = {
      {"kept_bytes", record.kept_bytes}, {"dropped_bytes", record.dropped_bytes}, {"redactions", Json::object()}};
  for (const auto& [kind, count] : record.redactions) json["output"]["redactions"][kind] = count;
  if (!record.unmasked.empty()) {
    for (const auto& [name, why] : record.unmasked) json["output"]["not_masked"][clean(name)] = why;
  }
  json["limits"] = record.spec ? limits_json(*record.spec, record.keep_bytes) : Json::object();
  json["jobs"] = record.jobs;
  if (record.exec) json["exec"] = exec_json(*record.exec);
  if (record.collected) json["collected"] = collected_json(*record.collected);
  if (record.spec) {
    json["run_id"] = record.spec->run_id;
    json["image"] = {{"reference", record.spec->image.reference}, {"id", record.spec->image.id}};
  }
  json["hashes"] = Json::object();
  for (const auto& [path, hash] : record.hashes) json["hashes"][clean(path)] = hash;
  if (!record.preload.empty()) {
    for (const auto& name : record.preload) json["preload"].push_back(clean(name));
  }
  json["left_out"] = Json::array();
  for (const auto& path : record.left_out) json["left_out"].push_back(clean(path));
  for (const auto& finding : record.refused) json["left_out"].push_back(clean(finding.path));
  json["left_out_for"] = Json::array();
  for (const auto& finding : record.refused) json["left_out_for"].push_back(finding_json(finding));
  json["relaxations"] = Json::array();
  for (const auto& sentence : record.relaxations) json["relaxations"].push_back(clean(sentence));
  json["widenings"] = json["relaxations"];  // their name until the next version of the document
  if (!record.notes.empty()) {
    for (const auto& sentence : record.notes) json["notes"].push_back(clean(sentence));
  }
  json["timings_ms"] = Json::object();
  for (const auto& [name, time] : record.timings) json["timings_ms"][name] = time.count();
  if (!record.evidence_file.empty()) json["evidence"] = clean(record.evidence_file);
  if (record.error) json["error"] = error_json(*record.error);
  return dump(json);
}

}  // namespace guard
