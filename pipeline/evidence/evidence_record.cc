#include "pipeline/evidence/evidence_record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <time.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/hash.h"
#include "common/text/foreign_json.h"
#include "common/text/json_schema.h"
#include "common/text/toml_file.h"
#include "pipeline/config/config_keys.h"
#include "pipeline/config/config_values.h"
#include "pipeline/report/json_fields.h"
#include "pipeline/report/json_parts.h"

extern "C" {
extern const char guard_evidence_schema[];
extern const char guard_evidence_schema_end[];
}

namespace guard {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;

// ---- the fields ----

void finding_fields(JsonFields& fields, Finding& finding) {
  // Where it stands and by what it is known again; its text is in the run document.
  finding_place_fields(fields, finding);
  fields("fingerprint", finding.fingerprint);
}

void setting_fields(JsonFields& fields, EvidenceRecord& record) {
  RunRecord& run = record.run;
  RunFacts& facts = *run.facts;
  SandboxSpec& spec = *run.spec;
  ExecResult& exec = *run.exec;
  fields("project", facts.project);
  fields("files_asked", facts.files);
  fields("command", spec.argv);
  fields.or_null("backend", run.backend);
  fields.or_null("why_backend", run.why_backend);
  fields("tiers", run.tiers);
  fields.or_null("network", record.network);
  fields.part("engine", !facts.engine_endpoint.empty() || !facts.engine.empty(), [&](JsonFields& engine) {
    engine.or_null("endpoint", facts.engine_endpoint);
    engine.or_null("version", facts.engine_version);
    engine("facts", facts.engine);
  });
  fields.or_null("kernel", facts.kernel);
  fields.part("bun", !facts.bun_sha256.empty(), [&](JsonFields& bun) {
    bun.or_null("version", facts.bun_version);
    bun("sha256", facts.bun_sha256);
  });
  fields.part("image", !spec.image.reference.empty(), [&](JsonFields& image) {
    image("reference", spec.image.reference);
    image.or_null("id", spec.image.id);
    image.or_null("content_digest", facts.image_digest);
    image.or_null("layer_sha256", facts.layer_sha256);
  });
  fields.part("rules", !facts.rules_digest.empty(), [&](JsonFields& rules) {
    rules("digest", facts.rules_digest);
    rules.or_null("folder", facts.rules_folder);
  });
  fields.part("config", !record.config.empty(), [&](JsonFields& config) {
    config.or_null("file", facts.config_file);
    config.or_null("file_sha256", facts.config_sha256);
    config("digest", record.config_digest);
    config("values", record.config);
    config("origins", record.origins);
  });
  fields.part("files", true, [&](JsonFields& files) {
    files("staged", run.staged);
    files("digest", record.files_digest);
    files("sha256", run.hashes);
  });
  fields("left_out", run.left_out);
  fields.part(
      "limits", !record.network.empty(), [&](JsonFields& limits) { limits_fields(limits, spec, run.keep_bytes); });
  fields("jobs", run.jobs);
  fields("enforced_by", exec.enforced_by);
  fields("seen_inside", exec.seen_inside);
  fields("relaxations", run.relaxations);
  fields("widenings", record.widenings);
}

void test_fields(JsonFields& fields, TestSummary& tests) {
  fields("tests", tests.tests);
  fields("passed", tests.passed);
  fields("failed", tests.failures);
  fields("skipped", tests.skipped);
  fields("assertions", tests.assertions);
  fields.rows("files", tests.files, [](JsonFields& row, TestFileSummary& file) {
    row("file", file.file);
    row("tests", file.tests);
    row("failed", file.failures);
    row("skipped", file.skipped);
    row("assertions", file.assertions);
  });
  fields.rows("failures", tests.cases, [](JsonFields& row, TestCase& test) {
    row("file", test.file);
    row("line", test.line);
    row("name", test.name);
  });
}

void check_fields(JsonFields& fields, EvidenceRecord& record, CheckRecord& check) {
  fields("verdict", record.check_verdict);
  fields("reason", record.check_reason);
  fields("mode", check.mode);
  fields("files", check.report.files);
  fields("bytes", check.report.bytes);
  fields.rows("findings", check.report.findings, finding_fields);
  fields.rows("waived", check.waived, [](JsonFields& row, WaivedFinding& waived) {
    finding_fields(row, waived.finding);
    row("reason", waived.waiver.reason);
    row("expires", waived.waiver.expires);
  });
}

void output_fields(JsonFields& fields, RunRecord& run) {
  fields("stdout_bytes", run.exec->stdout_bytes);
  fields("stderr_bytes", run.exec->stderr_bytes);
  fields("kept_bytes", run.kept_bytes);
  fields("dropped_bytes", run.dropped_bytes);
  fields.or_null("kept_stdout_sha256", run.facts->stdout_sha256);
  fields.or_null("kept_stderr_sha256", run.facts->stderr_sha256);
  fields("redactions", run.redactions);
  fields("not_masked", run.unmasked);
}

// `ran`: of a document that is written, whether anything did.
void result_fields(JsonFields& fields, EvidenceRecord& record, bool ran) {
  RunRecord& run = record.run;
  ExecResult& exec = *run.exec;
  fields("verdict", record.verdict);
  fields("reason", record.reason);
  fields("detail", record.detail);
  fields("exit_status", record.exit_status);
  fields.part("outcome", ran, [&](JsonFields& outcome) {
    outcome("kind", exec.outcome.kind);
    outcome("value", exec.outcome.value);
    outcome("detail", exec.outcome.detail);
  });
  fields.part("tests", run.tests, test_fields);
  fields.or_null("report_sha256", run.facts->report_sha256);
  fields.part("attested", exec.attested, [&](JsonFields& attested, Attested& said) {
    attested("ran", record.attested_ran);
    attested("expected_failures", record.attested_expected_failures);
    attested("redirected", said.redirected);
  });
  fields("attestation_forged", exec.attestation_forged);
  fields.part("output", true, [&](JsonFields& output) { output_fields(output, run); });
  fields.part("resources", ran, [&](JsonFields& resources) {
    resources("wall_ms", exec.wall);
    resources("cpu_ms", exec.cpu);
    resources("memory_peak_bytes", exec.memory_peak_bytes);
  });
  fields.part("check", run.check, [&](JsonFields& part, CheckRecord& check) { check_fields(part, record, check); });
  fields.part("collected", run.collected, [&](JsonFields& part, CollectRecord& collected) {
    part("mode", collected.policy);
    std::map<std::string, std::string> hashes;
    for (const auto& file : collected.files) hashes[file.path] = file.sha256;
    part("sha256", hashes);
    if (part.reads()) {
      for (auto& [path, sha256] : hashes) collected.files.push_back({path, 0, sha256});
    }
    part("left_behind", collected.left_behind_count);
    part("complete", collected.complete);
  });
  if (run.network || fields.reads()) fields.part("egress", run.network, network_fields<NetworkRecord>);
  fields("notes", run.notes);
}

void fields_of(JsonFields& fields, EvidenceRecord& record, bool ran) {
  fields.part("guard", true, [&](JsonFields& guard) {
    guard("version", record.guard_version);
    guard.or_null("sha256", record.run.facts->program_sha256);
  });
  fields("run_id", record.run.facts->run_id);
  fields("started", record.started);
  fields("ended", record.ended);
  fields("timings_ms", record.run.timings);
  setting_fields(fields, record);
  result_fields(fields, record, ran);
}

// ---- what they are filled from ----

// As they stand in the document: what is digested is what can be read there.
std::map<std::string, std::string> cleaned(const std::map<std::string, std::string>& rows) {
  std::map<std::string, std::string> shown;
  for (const auto& [key, value] : rows) shown.emplace(clean(key), clean(value));
  return shown;
}

template <typename Value>
Value& there(std::optional<Value>& value) {
  return value ? *value : value.emplace();
}

EvidenceRecord record_of(const RunRecord& run, std::string_view guard_version, int exit_status) {
  EvidenceRecord record;
  record.run = run;
  record.guard_version = guard_version;
  RunRecord& copy = record.run;
  const RunFacts& facts = there(copy.facts);
  record.verdict = to_string(run.verdict.kind());
  record.reason = info(run.verdict.reason).name;
  record.detail = run.verdict.detail;
  record.exit_status = static_cast<std::uint64_t>(exit_status);
  const auto started = std::chrono::floor<milliseconds>(facts.started);
  record.started = time_text(started);
  record.ended = time_text(started + facts.elapsed);
  if (run.spec) record.network = to_string(run.spec->network);
  if (run.check) {
    record.check_verdict = to_string(run.check->verdict.kind());
    record.check_reason = info(run.check->verdict.reason).name;
  }
  for (const auto& entry : facts.config) {
    record.config[clean(entry.key)] = clean(entry.value);
    if (entry.origin != "default") record.origins[clean(entry.key)] = clean(entry.origin);
  }
  record.config_digest = config_digest(record.config);
  copy.hashes = cleaned(run.hashes);
  record.files_digest = files_digest(copy.hashes);
  for (const auto& finding : run.refused) copy.left_out.push_back(finding.path);
  if (copy.tests && !copy.tests->whole) copy.tests.reset();
  if (copy.tests)
    std::erase_if(copy.tests->cases, [](const TestCase& test) { return test.state != TestState::failed; });
  if (run.exec && run.exec->attested) {
    record.attested_ran = run.exec->attested->count("begun");
    record.attested_expected_failures = run.exec->attested->count("expected_failures");
  }
  record.widenings = run.relaxations;
  there(copy.spec);
  there(copy.exec);
  return record;
}

Error error_of(const json& written) {
  const auto text = [&](const char* key) { return written.value(key, std::string()); };
  Error error(find_error_code(text("code")).value_or(ErrorCode::internal), text("message"));
  const json details = written.value("details", json::object());  // items() refers to it
  // NOLINTNEXTLINE(bugprone-use-after-move): it gives itself back
  for (const auto& [key, value] : details.items()) (void)std::move(error).detail(key, value.get<std::string>());
  return error;
}

Error refuse(std::string sentence) {
  return Error(ErrorCode::input_invalid, std::move(sentence)).hint("name a file that `guard run --record` has written");
}

// ---- digests ----

constexpr std::string_view kBeforeDigest = "\n  \"digest\": \"";
constexpr std::string_view kAfterDigest = "\"\n}\n";
const std::size_t kDigits = 2 * Sha256::kBytes;

std::string digest_of_lines(const std::map<std::string, std::string>& rows,
    std::string (*line)(const std::string& key, const std::string& value)) {
  Sha256 hash;
  for (const auto& [key, value] : rows) hash.update(std::string_view(line(key, value)));
  return hash.finish_hex();
}

}  // namespace

std::string evidence_document(const RunRecord& run, std::string_view guard_version, int exit_status) {
  EvidenceRecord record = record_of(run, guard_version, exit_status);
  Json document = {{"version", kEvidenceVersion}};
  JsonFields fields(document);
  fields_of(fields, record, run.exec.has_value());
  document["error"] = run.error ? error_json(*run.error) : Json(nullptr);
  document["digest"] = std::string(kDigits, '0');
  std::string text = dump(document);
  write_digest(text);
  return text;
}

std::string evidence_file_name(const RunRecord& record) {
  const RunFacts facts = record.facts.value_or(RunFacts());
  return fmt::format("{:%Y%m%dT%H%M%S}Z-{}.json",
      fmt::gmtime(std::chrono::floor<std::chrono::seconds>(facts.started).time_since_epoch().count()), facts.run_id);
}

Result<json> parse_evidence(std::string_view bytes) {
  // Which of two values counts would depend on the reader.
  auto parsed = parse_json(bytes, RepeatedKeys::refused);
  if (!parsed) return refuse(fmt::format("this is no evidence record: it {}", parsed.error().message()));
  const json& record = *parsed;
  if (!record.is_object()) return refuse("this is no evidence record: it is not a JSON object");
  const auto version = record.find("version");
  if (version == record.end() || !version->is_number_unsigned())
    return refuse("this is no evidence record: it has no version");
  if (*version != kEvidenceVersion) {
    return Error(ErrorCode::input_invalid,
        fmt::format("the record is of version {}; this guard reads version {}", version->dump(), kEvidenceVersion))
        .hint("check it with the guard that wrote it, or a newer one");
  }
  return parsed;
}

std::vector<std::string> shape_faults(const json& document) {
  static const JsonSchema schema(json::parse(guard_evidence_schema, guard_evidence_schema_end));
  return schema.faults(document);
}

EvidenceRecord read_evidence(const json& document) {
  EvidenceRecord record;
  RunRecord& run = record.run;
  run.facts.emplace();
  run.spec.emplace();
  run.exec.emplace();
  JsonFields fields(document);
  fields_of(fields, record, false);
  if (document["error"].is_object()) run.error = error_of(document["error"]);
  if (document["outcome"].is_null()) run.exec.reset();
  if (document["limits"].is_null()) run.spec.reset();
  if (!document.contains("relaxations")) run.relaxations = record.widenings;  // of an older guard
  return record;
}

std::string with_relaxation(std::string_view document, const std::string& sentence) {
  Json changed = Json::parse(document);
  for (const char* name : {"relaxations", "widenings"}) changed[name].push_back(sentence);
  std::string text = dump(changed);
  write_digest(text);
  return text;
}

Config recorded_config(const EvidenceRecord& record) {
  Config config;
  for (const ConfigKey& key : config_keys()) {
    const auto said = record.config.find(key.dotted());
    if (said == record.config.end() || !key.has_text_form()) continue;
    const auto root = parse_toml("value = " + said->second, "the record");
    if (root && root->find("value") != nullptr) (void)set_from_toml(key, *root->find("value"), {}, config);
  }
  return config;
}

std::string time_text(EvidenceTime when) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(when);
  return fmt::format(
      "{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds.time_since_epoch().count()), (when - seconds).count());
}

std::optional<EvidenceTime> time_of(const std::string& text) {
  std::tm parts{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr || *rest != '.') return std::nullopt;
  const EvidenceTime when(std::chrono::seconds(::timegm(&parts)) + milliseconds(std::atoi(rest + 1)));
  // The 31st of February would be some day of March.
  return time_text(when) == text ? std::optional(when) : std::nullopt;
}

std::string files_digest(const std::map<std::string, std::string>& sha256_by_path) {
  return digest_of_lines(sha256_by_path,
      [](const std::string& path, const std::string& sha256) { return fmt::format("{}  {}\n", sha256, path); });
}

std::string config_digest(const std::map<std::string, std::string>& value_by_key) {
  return digest_of_lines(value_by_key,
      [](const std::string& key, const std::string& value) { return fmt::format("{} = {}\n", key, value); });
}

void write_digest(std::string& document) {
  document.replace(document.size() - kAfterDigest.size() - kDigits, kDigits, document_digest(document));
}

std::optional<std::string_view> written_digest(std::string_view document) {
  const std::size_t size = kBeforeDigest.size() + kDigits + kAfterDigest.size();
  if (document.size() < size || !document.ends_with(kAfterDigest)) return std::nullopt;
  const std::string_view tail = document.substr(document.size() - size);
  if (!tail.starts_with(kBeforeDigest)) return std::nullopt;
  return tail.substr(kBeforeDigest.size(), kDigits);
}

std::string document_digest(std::string_view document) {
  Sha256 hash;
  hash.update(document.substr(0, document.size() - kAfterDigest.size() - kDigits));
  hash.update(std::string_view(std::string(kDigits, '0')));
  hash.update(kAfterDigest);
  return hash.finish_hex();
}

}  // namespace guard
