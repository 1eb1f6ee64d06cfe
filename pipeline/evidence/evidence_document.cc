#include "pipeline/evidence/evidence_document.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "pipeline/evidence/evidence_digests.h"
#include "pipeline/report/json_parts.h"

namespace guard {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::system_clock;

Json or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(clean(text)); }

Json list(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const auto& text : texts) json.push_back(clean(text));
  return json;
}

template <typename Value>
Json object(const std::map<std::string, Value>& rows) {
  Json json = Json::object();
  for (const auto& [key, value] : rows) {
    if constexpr (std::is_same_v<Value, std::string>) {
      json[clean(key)] = clean(value);
    } else {
      json[clean(key)] = value;
    }
  }
  return json;
}

std::tm utc(Clock::time_point when) {
  const std::time_t seconds = Clock::to_time_t(std::chrono::floor<std::chrono::seconds>(when));
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return parts;
}

std::string time_text(Clock::time_point when) {
  const std::tm parts = utc(when);
  const auto millis = std::chrono::floor<milliseconds>(when.time_since_epoch()).count() % 1000;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
      parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, millis);
}

// As they stand in the document: what is digested is what can be read there.
std::map<std::string, std::string> cleaned(const std::map<std::string, std::string>& rows) {
  std::map<std::string, std::string> shown;
  for (const auto& [key, value] : rows) shown.emplace(clean(key), clean(value));
  return shown;
}

Json engine_json(const RunFacts& facts) {
  if (facts.engine_endpoint.empty() && facts.engine.empty()) return nullptr;
  return {{"endpoint", or_null(facts.engine_endpoint)}, {"version", or_null(facts.engine_version)},
      {"facts", object(facts.engine)}};
}

Json bun_json(const RunFacts& facts) {
  if (facts.bun_sha256.empty()) return nullptr;
  return {{"version", or_null(facts.bun_version)}, {"sha256", facts.bun_sha256}};
}

Json image_json(const RunRecord& record, const RunFacts& facts) {
  if (!record.spec || record.spec->image.reference.empty()) return nullptr;
  return {{"reference", clean(record.spec->image.reference)}, {"id", or_null(record.spec->image.id)},
      {"content_digest", or_null(facts.image_digest)}, {"layer_sha256", or_null(facts.layer_sha256)}};
}

Json rules_json(const RunFacts& facts) {
  if (facts.rules_digest.empty()) return nullptr;
  return {{"digest", facts.rules_digest}, {"folder", or_null(facts.rules_folder)}};
}

Json config_json(const RunFacts& facts) {
  if (facts.config.empty()) return nullptr;
  std::map<std::string, std::string> values;
  std::map<std::string, std::string> origins;
  for (const auto& entry : facts.config) {
    values[clean(entry.key)] = clean(entry.value);
    if (entry.origin != "default") origins[clean(entry.key)] = clean(entry.origin);
  }
  return {{"file", or_null(facts.config_file)}, {"file_sha256", or_null(facts.config_sha256)},
      {"digest", config_digest(values)}, {"values", object(values)}, {"origins", object(origins)}};
}

Json files_json(const RunRecord& record) {
  const auto hashes = cleaned(record.hashes);
  return {{"staged", record.staged}, {"digest", files_digest(hashes)}, {"sha256", object(hashes)}};
}

Json outcome_json(const RunRecord& record) {
  if (!record.exec) return nullptr;
  const Outcome& outcome = record.exec->outcome;
  return {{"kind", to_string(outcome.kind)}, {"value", outcome.value}, {"detail", clean(outcome.detail)}};
}

Json collected_json(const RunRecord& record) {
  if (!record.collected) return nullptr;
  const CollectRecord& collected = *record.collected;
  Json json = {{"mode", to_string(collected.policy)}, {"sha256", Json::object()},
      {"left_behind", collected.left_behind_count}, {"complete", collected.complete}};
  for (const auto& file : collected.files) json["sha256"][clean(file.path)] = file.sha256;
  return json;
}

Json tests_json(const RunRecord& record) {
  if (!record.tests || !record.tests->whole) return nullptr;
  const TestSummary& tests = *record.tests;
  Json json = {{"tests", tests.tests}, {"passed", tests.passed}, {"failed", tests.failures}, {"skipped", tests.skipped},
      {"assertions", tests.assertions}, {"files", Json::array()}, {"failures", Json::array()}};
  for (const auto& file : tests.files) {
    json["files"].push_back({{"file", clean(file.file)}, {"tests", file.tests}, {"failed", file.failures},
        {"skipped", file.skipped}, {"assertions", file.assertions}});
  }
  for (const auto& test : tests.cases) {
    if (test.state == TestState::failed)
      json["failures"].push_back({{"file", clean(test.file)}, {"line", test.line}, {"name", clean(test.name)}});
  }
  return json;
}

Json output_json(const RunRecord& record, const RunFacts& facts) {
  Json json = {{"stdout_bytes", record.exec ? record.exec->stdout_bytes : 0},
      {"stderr_bytes", record.exec ? record.exec->stderr_bytes : 0}, {"kept_bytes", record.kept_bytes},
      {"dropped_bytes", record.dropped_bytes}, {"kept_stdout_sha256", or_null(facts.stdout_sha256)},
      {"kept_stderr_sha256", or_null(facts.stderr_sha256)}, {"redactions", object(record.redactions)},
      {"not_masked", Json::object()}};
  for (const auto& [name, why] : record.unmasked) json["not_masked"][clean(name)] = clean(why);
  return json;
}

Json resources_json(const RunRecord& record) {
  if (!record.exec) return nullptr;
  return {{"wall_ms", record.exec->wall.count()}, {"cpu_ms", record.exec->cpu.count()},
      {"memory_peak_bytes", record.exec->memory_peak_bytes}};
}

// Where it stands and by what it is known again; its text is in the run document.
Json finding_json(const Finding& finding) {
  return {{"rule", finding.rule}, {"tier", to_string(finding.tier)},
      {"severity", finding.severity == Severity::block ? "block" : "note"}, {"path", clean(finding.path)},
      {"line", finding.line}, {"column", finding.column}, {"fingerprint", finding.fingerprint}};
}

Json check_json(const RunRecord& record) {
  if (!record.check) return nullptr;
  const CheckRecord& check = *record.check;
  Json json = {{"verdict", to_string(check.verdict.kind())}, {"reason", info(check.verdict.reason).name},
      {"mode", check.mode}, {"files", check.report.files}, {"bytes", check.report.bytes}, {"findings", Json::array()},
      {"waived", Json::array()}};
  for (const auto& finding : check.report.findings) json["findings"].push_back(finding_json(finding));
  for (const auto& row : check.waived) {
    Json waived = finding_json(row.finding);
    waived["reason"] = clean(row.waiver.reason);
    waived["expires"] = row.waiver.expires;
    json["waived"].push_back(std::move(waived));
  }
  return json;
}

void add_setting(Json& json, const RunRecord& record, const RunFacts& facts) {
  json["project"] = clean(facts.project);
  json["files_asked"] = list(facts.files);
  json["command"] = list(record.spec ? record.spec->argv : std::vector<std::string>());
  json["backend"] = or_null(record.backend);
  json["why_backend"] = or_null(record.why_backend);
  json["tiers"] = record.tiers;
  json["network"] = record.spec ? Json(to_string(record.spec->network)) : Json(nullptr);
  json["engine"] = engine_json(facts);
  json["kernel"] = or_null(facts.kernel);
  json["bun"] = bun_json(facts);
  json["image"] = image_json(record, facts);
  json["rules"] = rules_json(facts);
  json["config"] = config_json(facts);
  json["files"] = files_json(record);
  std::vector<std::string> left_out = record.left_out;
  for (const auto& finding : record.refused) left_out.push_back(finding.path);
  json["left_out"] = list(left_out);
  json["limits"] = record.spec ? limits_json(*record.spec, record.keep_bytes) : Json(nullptr);
  json["jobs"] = record.jobs;
  json["enforced_by"] = object(record.exec ? record.exec->enforced_by : std::map<std::string, std::string>());
  json["seen_inside"] = object(record.exec ? record.exec->seen_inside : std::map<std::string, std::string>());
  json["relaxations"] = list(record.relaxations);
  json["widenings"] = json["relaxations"];  // their name until the next version of the record
}

void add_result(Json& json, const RunRecord& record, const RunFacts& facts, int exit_status) {
  json["verdict"] = to_string(record.verdict.kind());
  json["reason"] = info(record.verdict.reason).name;
  json["detail"] = clean(record.verdict.detail);
  json["exit_status"] = exit_status;
  json["outcome"] = outcome_json(record);
  json["tests"] = tests_json(record);
  json["report_sha256"] = or_null(facts.report_sha256);
  json["attested"] = record.exec && record.exec->attested ? attested_json(*record.exec->attested) : Json(nullptr);
  json["attestation_forged"] = record.exec && record.exec->attestation_forged;
  json["output"] = output_json(record, facts);
  json["resources"] = resources_json(record);
  json["check"] = check_json(record);
  json["collected"] = collected_json(record);
  json["notes"] = list(record.notes);
  json["error"] = record.error ? error_json(*record.error) : Json(nullptr);
}

const RunFacts& facts_of(const RunRecord& record) {
  static const RunFacts kNone;
  return record.facts ? *record.facts : kNone;
}

}  // namespace

std::string evidence_document(const RunRecord& record, std::string_view guard_version, int exit_status) {
  const RunFacts& facts = facts_of(record);
  Json json;
  json["version"] = kEvidenceVersion;
  json["guard"] = {{"version", guard_version}, {"sha256", or_null(facts.program_sha256)}};
  json["run_id"] = facts.run_id;
  json["started"] = time_text(facts.started);
  json["ended"] = time_text(facts.started + facts.elapsed);
  json["timings_ms"] = Json::object();
  for (const auto& [name, time] : record.timings) json["timings_ms"][name] = time.count();
  add_setting(json, record, facts);
  add_result(json, record, facts, exit_status);
  json["digest"] = no_digest();
  std::string text = dump(json);
  write_digest(text);
  return text;
}

std::string evidence_file_name(const RunRecord& record) {
  const RunFacts& facts = facts_of(record);
  const std::tm parts = utc(facts.started);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z-{}.json", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
      parts.tm_hour, parts.tm_min, parts.tm_sec, facts.run_id);
}

}  // namespace guard
