// Evidence records by themselves: what is written fits the schema and is read back; whatever is changed afterwards
// shows. Records of real runs are in tests/cli/run/evidence_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "common/file_io.h"
#include "common/hash.h"
#include "pipeline/evidence/evidence_check.h"
#include "pipeline/evidence/evidence_file.h"
#include "pipeline/evidence/evidence_record.h"
#include "pipeline/evidence/masked_record.h"
#include "pipeline/run/test_command.h"
#include "runner/sandbox/container_use_sandbox.h"
#include "tests/support/json_schema.h"

namespace guard {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSchema = GUARD_SOURCE_DIR "/docs/evidence.schema.json";
const std::string kHash(64, 'a');

RunRecord passed() {
  RunRecord record;
  record.verdict = {Reason::tests_passed, "2 tests passed in 1 file"};
  record.backend = "namespace";
  record.why_backend = "the embedded sandbox was configured";
  record.tiers = {"always", "docker", "host"};
  record.check.emplace();
  record.check->verdict = {Reason::no_findings, ""};
  record.check->mode = "namespace";
  record.check->report.files = 1;
  record.tests = TestSummary{2, 2, 0, 0, 3, {{"sandbox/a.test.ts", 2, 0, 0, 3}}, {}};
  record.exec.emplace();
  const std::string none(16, '0');
  record.exec->seen_inside = {{"uid", "1000"}, {"gid", "1000"}, {"cap_inh", none}, {"cap_eff", none}, {"cap_prm", none},
      {"cap_bnd", none}, {"cap_amb", none}, {"no_new_privs", "1"}, {"seccomp", "2"}, {"rlimit_core", "0"}};
  record.exec->attested = Attested{{{"begun", 2}, {"passed", 2}, {"assertions", 2}}, {}, false, false};
  record.exec->enforced_by = {{"memory", "cgroup"}};
  record.spec.emplace();
  record.spec->argv = test_command(kBunInside, kAttestationInside, {"sandbox/a.test.ts"});
  record.spec->image = {"jarvis-test-runner:0123", "sha256:" + kHash, {}};
  record.hashes = {{"sandbox/a.test.ts", kHash}, {"src/a.ts", kHash}};
  record.staged = true;
  record.timings = {{"check", milliseconds(3)}, {"run", milliseconds(40)}};
  record.redactions = {{"jwt", 2}};
  record.facts.emplace();
  RunFacts& facts = *record.facts;
  facts.run_id = "r0123";
  facts.started = std::chrono::sys_days(std::chrono::year(2030) / 1 / 31) + std::chrono::milliseconds(1007);
  facts.elapsed = milliseconds(50);
  facts.project = ".";
  facts.files = {"sandbox/a.test.ts"};
  facts.config = {{"backend", "\"namespace\"", "guard.toml:1"}, {"redact.kinds_off", "[]", "default"},
      {"check.two_hit_ignore", "[]", "default"}, {"docker.image", "\"\"", "default"}, {"run.env", "{}", "default"}};
  facts.config_file = "guard.toml";
  facts.config_sha256 = kHash;
  facts.rules_digest = kHash;
  facts.kernel = "Linux 6.1.0 x86_64";
  facts.bun_version = "1.4.5";
  facts.bun_sha256 = kHash;
  facts.image_digest = kHash;
  facts.layer_sha256 = kHash;
  facts.engine_endpoint = "/usr/bin/bwrap";
  facts.engine = {{"cgroups", "none"}};
  facts.report_sha256 = kHash;
  facts.stdout_sha256 = kHash;
  facts.stderr_sha256 = kHash;
  return record;
}

RunRecord failed() {
  RunRecord record = passed();
  record.verdict = {Reason::tests_failed, "1 of 2 tests failed"};
  record.exec->outcome.value = 1;
  record.tests = TestSummary{
      2, 1, 1, 0, 3, {{"sandbox/a.test.ts", 2, 1, 0, 3}}, {{"sandbox/a.test.ts", "adds", TestState::failed, 4}}};
  return record;
}

RunRecord refused() {
  RunRecord record = passed();
  Finding finding;
  finding.rule = "host.eval";
  finding.path = "sandbox/a.test.ts";
  finding.line = 3;
  finding.fingerprint = kHash;
  record.verdict = record.check->verdict = {Reason::findings, "1 finding"};
  record.check->report.findings = {finding};
  record.tests.reset();
  record.exec.reset();
  record.spec.reset();
  record.staged = false;
  record.hashes.erase("src/a.ts");
  return record;
}

RunRecord no_engine() {
  RunRecord record;
  record.error = Error(ErrorCode::environment_unavailable, "no engine");
  record.verdict = verdict_of(*record.error);
  record.facts = without_texts(*passed().facts);
  return record;
}

std::string document(const RunRecord& record) {
  return evidence_document(record, "1.2.3", record.verdict.exit_status());
}

// The record after `change`, with a digest that fits again.
std::string forged(const std::string& text, const std::function<void(ordered_json&)>& change) {
  ordered_json record = ordered_json::parse(text);
  change(record);
  std::string changed = record.dump(2) + "\n";
  write_digest(changed);
  return changed;
}

// What the record says against itself; "" if nothing.
std::string contradictions(const std::string& text) {
  const auto record = parse_evidence(text);
  if (!record) return record.error().message();
  std::string faults;
  for (const auto& fault : shape_faults(*record)) faults += "shape: " + fault + "\n";
  if (!faults.empty()) return faults;
  const auto written = written_digest(text);
  if (!written || *written != document_digest(text)) faults += "digest\n";
  for (const auto& check : check_consistency(read_evidence(*record))) {
    for (const auto& detail : check.details) faults += check.name + ": " + detail + "\n";
  }
  return faults;
}

std::string refusal(const std::string& text) {
  const auto record = parse_evidence(text);
  return record ? "" : record.error().message();
}

TEST(EvidenceDocument, FitsTheSchemaAndDoesNotContradictItself) {
  for (const auto& record : {passed(), failed(), refused(), no_engine(), RunRecord{}}) {
    const std::string text = document(record);
    EXPECT_EQ(testing::schema_faults(json::parse(text), kSchema), "") << text;
    if (record.facts) {
      EXPECT_EQ(contradictions(text), "") << text;
    }
  }
}

// docs/evidence.md tells people to do it by hand: this is the same by other means.
TEST(EvidenceDocument, DigestIsThatOfTheDocumentWithZerosInItsPlace) {
  std::string text = document(passed());
  const std::string digest = json::parse(text)["digest"];
  text.replace(text.rfind(digest), digest.size(), std::string(64, '0'));
  EXPECT_EQ(sha256_hex(text), digest);
}

TEST(EvidenceDocument, EveryByteCounts) {
  const std::string text = document(passed());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_NE(contradictions(changed), "") << "byte " << i << ": " << text.substr(i, 40);
  }
}

TEST(EvidenceDocument, FilesSortByTime) { EXPECT_EQ(evidence_file_name(passed()), "20300131T000001Z-r0123.json"); }

TEST(EvidenceDocument, SecretsAreMaskedInAllThatTheRunDocumentDoesNotShow) {
  RunRecord record = passed();
  const std::string secret = "x9Kx9Lq-7TtR2mWvB4nZpQ1c";
  record.spec->argv.push_back("--token=" + secret);
  record.facts->project = "/home/" + secret;
  record.facts->config.push_back({"run.env." + secret, "\"" + secret + "\"", secret});
  record.facts->files.push_back("sandbox/" + secret);
  record.facts->config_file = record.facts->rules_folder = record.facts->engine_endpoint = secret;
  record.facts->engine["name"] = secret;
  mask_record(SecretSource::shipped({{"TOKEN", secret}}).value(), record);
  EXPECT_THAT(document(record), Not(HasSubstr(secret)));
}

// Names that are masked alike must not become one: a file would be lost.
TEST(EvidenceDocument, FilesWhoseNamesAreMaskedAlikeStayTwo) {
  RunRecord record = passed();
  record.hashes = {{"sandbox/firstSecretValue", kHash}, {"sandbox/secondSecretValue", kHash}};
  mask_record(SecretSource::shipped({{"TOKEN", "firstSecretValue"}, {"TOKEN", "secondSecretValue"}}).value(), record);
  EXPECT_EQ(json::parse(document(record))["files"]["sha256"].size(), 2u);
}

// Names are masked together.
TEST(EvidenceDocument, ANameIsMaskedWhateverTheOthersHold) {
  for (const std::string other : {"a", "a\x1b]0;", "a\x1b[", "a\nb", "a\r", "-----BEGIN PRIVATE KEY-----", "token="}) {
    RunRecord record = passed();
    record.hashes = {{other, kHash}, {"b", kHash}, {"sandbox/firstSecretValue", kHash}};
    mask_record(SecretSource::shipped({{"TOKEN", "firstSecretValue"}}).value(), record);
    EXPECT_EQ(record.hashes.size(), 3u) << other;
    EXPECT_EQ(record.hashes.count("b"), 1u) << other;
    EXPECT_EQ(record.hashes.count("sandbox/firstSecretValue"), 0u) << other;
    EXPECT_EQ(record.hashes.at("b"), kHash) << other;
  }
}

TEST(EvidenceShape, EveryFieldIsNeeded) {
  const json record = json::parse(document(failed()));
  std::vector<json::json_pointer> fields;
  const std::function<void(const json&, const json::json_pointer&)> list = [&](const json& value,
                                                                               const json::json_pointer& at) {
    for (const auto& [key, inner] : value.items()) {
      fields.push_back(at / key);
      if (inner.is_object()) list(inner, at / key);
    }
  };
  list(record, json::json_pointer());
  for (const std::string table : {"/timings_ms/", "/engine/facts/", "/config/values/", "/config/origins/",
           "/files/sha256/", "/enforced_by/", "/seen_inside/", "/output/redactions/"}) {
    fields.erase(std::remove_if(fields.begin(), fields.end(),
                     [&](const auto& field) { return field.to_string().starts_with(table); }),
        fields.end());
  }
  // A record of an older guard has its old name alone.
  std::erase(fields, json::json_pointer("/relaxations"));
  ASSERT_GT(fields.size(), 80u);
  for (const auto& field : fields) {
    json changed = record;
    changed.at(field.parent_pointer()).erase(field.back());
    EXPECT_THAT(shape_faults(changed), Not(::testing::IsEmpty())) << field << " is not needed";
    changed = record;
    changed.at(field) = json::array({json::array()});
    EXPECT_THAT(shape_faults(changed), Not(::testing::IsEmpty())) << field << " may be anything";
  }
}

TEST(EvidenceShape, RowsOfListsAreLookedAt) {
  for (const auto& [record, list] : {std::pair(failed(), "/tests/files/0"), std::pair(failed(), "/tests/failures/0"),
           std::pair(refused(), "/check/findings/0")}) {
    const json whole = json::parse(document(record));
    const json::json_pointer row(list);
    for (const auto& [key, ignored] : whole.at(row).items()) {
      json changed = whole;
      changed.at(row).erase(key);
      EXPECT_THAT(shape_faults(changed), ::testing::SizeIs(1)) << list << key;
    }
  }
}

TEST(EvidenceShape, FieldsOfNewerGuardsAreLetThrough) {
  const std::string text = forged(document(passed()), [](ordered_json& record) {
    const auto digest = record["digest"];
    record.erase("digest");
    record["witness"] = {{"kind", "new"}};
    record["digest"] = digest;
  });
  EXPECT_EQ(contradictions(text), "");
}

TEST(EvidenceReader, RefusesWhatCanBeReadInTwoWays) {
  const std::string text = document(passed());
  std::string twice = text;
  twice.insert(twice.find("\"verdict\""), "\"verdict\": \"rejected\",\n  ");
  EXPECT_THAT(refusal(twice), HasSubstr("\"verdict\" twice"));
  std::string inner = text;
  inner.insert(inner.find("\"passed\""), "\"passed\": 9,\n    ");
  EXPECT_THAT(refusal(inner), HasSubstr("\"passed\" twice"));
  // The same key, spelled with an escape.
  std::string escaped = text;
  escaped.insert(escaped.find("\"verdict\""), "\"v\\u0065rdict\": \"rejected\",\n  ");
  EXPECT_THAT(refusal(escaped), HasSubstr("twice in one object"));
  EXPECT_THAT(refusal(text + std::string(1, '\0') + text), HasSubstr("NUL"));
  EXPECT_NE(refusal(text + text), "");
}

TEST(EvidenceReader, RefusesHostileBytes) {
  const std::string text = document(passed());
  EXPECT_NE(refusal(""), "");
  EXPECT_NE(refusal("null"), "");
  EXPECT_NE(refusal("[]"), "");
  EXPECT_NE(refusal("{}"), "");
  EXPECT_NE(refusal("{\"version\":1.0}"), "");
  EXPECT_NE(refusal("{\"version\":1e999}"), "");
  EXPECT_NE(refusal("\xef\xbb"), "");
  EXPECT_NE(refusal("{\"version\":1,\"a\":\"\xff\"}"), "");
  EXPECT_THAT(refusal(std::string(30u << 20, '[')), HasSubstr("nested more than 64 levels"));
  EXPECT_THAT(refusal("{\"version\":1,\"a\":" + std::string(70, '[') + std::string(70, ']') + "}"),
      HasSubstr("nested more than 64 levels"));
  EXPECT_EQ(refusal("{\"version\":1,\"a\":\"" + std::string(99, '[') + "\\\"" + std::string(99, '[') + "\"}"), "");
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) EXPECT_NE(refusal(text.substr(0, size)), "") << size;
}

TEST(EvidenceReader, RefusesAnotherVersion) {
  const std::string text = forged(document(passed()), [](ordered_json& record) { record["version"] = 2; });
  EXPECT_THAT(refusal(text), HasSubstr("version 2"));
}

struct Forgery {
  const char* what;
  RunRecord record;
  std::function<void(ordered_json&)> change;
  const char* caught_by;
};

std::function<void(ordered_json&)> asking(std::vector<std::string> names) {
  return [names = std::move(names)](ordered_json& record) { record["files_asked"] = names; };
}

TEST(EvidenceConsistency, ForgeriesWithAFittingDigestShow) {
  const auto with = [](RunRecord record, const std::function<void(RunRecord&)>& change) {
    change(record);
    return record;
  };
  const RunRecord without_expect = with(passed(), [](RunRecord& record) {
    record.tests->assertions = record.tests->files[0].assertions = 0;
    record.relaxations = {"evidence: no expect() was counted in sandbox/a.test.ts"};
  });
  const RunRecord on_host = with(passed(), [](RunRecord& record) {
    record.backend = record.check->mode = "host";
    record.exec->seen_inside.clear();
    record.relaxations = {"host: the code runs on this machine without isolation", "run.env: TZ is passed in"};
    record.facts->config.push_back({"run.env.TZ", "\"[REDACTED:env:TZ]\"", "option --env"});
  });
  const RunRecord in_shared_environment = with(passed(), [](RunRecord& record) {
    record.backend = record.check->mode = "container-use";
    record.why_backend = "container-use was configured";
    record.verdict = {Reason::sandbox_unproved, ""};
    auto& seen = record.exec->seen_inside;
    seen["pid"] = seen["shared_environment"] = "1";
    seen["sources_writable"] = "0";
    record.spec->image = {};
    record.spec->argv = test_command(kBunInEnvironment, kAttestationInEnvironment, {"sandbox/a.test.ts"});
    record.relaxations = {"container-use: isolation", "container_use.env_id = mine"};
    RunFacts& facts = *record.facts;
    facts.config[0].value = "\"container-use\"";
    facts.config.push_back({"container_use.env_id", "\"mine\"", "guard.toml:3"});
    facts.image_digest = facts.layer_sha256 = facts.bun_sha256 = facts.bun_version = "";
  });
  const RunRecord with_keys = with(passed(), [](RunRecord& record) {
    record.network.emplace();
    record.spec->network = Network::allowlist;
    record.relaxations = {"trust_namespace: x", "network.allow: the code reaches a.test",
        "network.credential: X-Key for a.test from env:A", "network.credential: X-Key for b.test from env:B",
        "network.authorities = /a.pem: x"};
    auto& config = record.facts->config;
    config.push_back({"network.allow", "[\"a.test\"]", "guard.toml:2"});
    config.push_back({"network.credential[0]", "\"X-Key for a.test from env:A\"", "guard.toml:3"});
    config.push_back({"network.credential[1]", "\"X-Key for b.test from env:B\"", "guard.toml:9"});
    config.push_back({"network.authorities", "\"/a.pem\"", "guard.toml:15"});
  });
  const auto without = [](std::size_t relaxation) {
    return [relaxation](auto& r) { r["relaxations"].erase(relaxation), r["widenings"] = r["relaxations"]; };
  };
  const std::vector<Forgery> forgeries = {
      {"a relaxation: a key", with_keys, without(2), "\"network.credential: X-Key for a.test from env:A...\""},
      {"a relaxation: another key", with_keys, without(3), "\"network.credential: X-Key for b.test from env:B...\""},
      {"a relaxation: authorities", with_keys, without(4), "\"network.authorities = ...\""},
      {"verdict", failed(), [](auto& r) { r["verdict"] = "allowed"; }, "verdict: "},
      {"verdict and reason", failed(),
          [](auto& r) { r["verdict"] = "allowed", r["reason"] = "tests_passed", r["exit_status"] = 0; },
          "leads to tests_failed: 1 of 2 tests failed"},
      {"and the exit code", failed(),
          [](auto& r) {
            r["verdict"] = "allowed", r["reason"] = "tests_passed", r["exit_status"] = 0, r["outcome"]["value"] = 0;
          },
          "leads to report_forged: the report names 1 failed tests"},
      {"a reason of a check", passed(), [](auto& r) { r["reason"] = "no_findings"; },
          "it says no_findings, and what it holds leads to tests_passed"},
      {"an unknown reason", passed(), [](auto& r) { r["reason"] = "looks_good"; }, "there is no reason called"},
      {"exit status", failed(), [](auto& r) { r["exit_status"] = 0; }, "does not lead to the exit status"},
      {"exit code of a failure", failed(), [](auto& r) { r["outcome"]["value"] = 0; }, "yet bun exited with 0"},
      {"end by a signal", passed(), [](auto& r) { r["outcome"]["kind"] = "signaled"; }, "leads to crashed"},
      {"passed", passed(), [](auto& r) { r["tests"]["passed"] = 200; }, "passed, failed and skipped come to"},
      {"passed and tests", passed(), [](auto& r) { r["tests"]["passed"] = 200, r["tests"]["tests"] = 200; },
          "the files come to"},
      {"a failure left out", failed(), [](auto& r) { r["tests"]["failures"].clear(); }, "not every failed test"},
      {"a folder without tests", passed(), asking({"gone/"}), "there are no tests in gone/ among the files"},
      {"and one without tests beside a test", passed(), asking({"gone/", "sandbox/a.test.ts"}),
          "there are no tests in gone/ among the files"},
      {"a project without tests", passed(),
          [](auto& r) {
            asking({""})(r);
            r["files"]["sha256"].erase("sandbox/a.test.ts");
          },
          "there are no tests in the project among the files"},
      {"no tests at all", passed(),
          [](auto& r) {
            asking({"gone/"})(r);
            r["command"].erase(r["command"].size() - 1);
            r["tests"] = {{"tests", 0}, {"passed", 0}, {"failed", 0}, {"skipped", 0}, {"assertions", 0},
                {"files", ordered_json::array()}, {"failures", ordered_json::array()}};
            r["attested"]["ran"] = r["attested"]["assertions"] = 0;
          },
          "leads to no_tests: no test ran"},
      {"nothing passed", passed(),
          [](auto& r) { r["tests"]["passed"] = 0, r["tests"]["skipped"] = 2, r["tests"]["files"][0]["skipped"] = 2; },
          "every test in sandbox/a.test.ts was skipped"},
      {"a file that was not tested", passed(), [](auto& r) { r["files_asked"].push_back("sandbox/b.test.ts"); },
          "bun was given 2 files and says it ran 1"},
      {"a hash", passed(), [](auto& r) { r["files"]["sha256"]["src/a.ts"] = std::string(64, 'b'); }, "file list: "},
      {"a file left out", passed(), [](auto& r) { r["files"]["sha256"].erase("src/a.ts"); }, "file list: "},
      {"a finding left out", refused(), [](auto& r) { r["check"]["findings"].clear(); }, "leads to no_findings"},
      {"a finding and what ran", refused(),
          [](auto& r) {
            r["outcome"] = {{"kind", "exited"}, {"value", 0}, {"detail", ""}};
          },
          "the code ran although the check did not let it through"},
      {"the gate of a pass", passed(), [](auto& r) { r["check"] = nullptr; }, "the gate did not look at the tests"},
      {"capabilities", passed(), [](auto& r) { r["seen_inside"]["cap_eff"] = "00000000a80425fb"; },
          "holds capabilities"},
      {"the report", passed(), [](auto& r) { r["report_sha256"] = nullptr; }, "leads to report_missing"},
      {"the attestation", passed(), [](auto& r) { r["attested"] = nullptr; },
          "nothing attests that the tests had ended"},
      {"tests attested", passed(), [](auto& r) { r["attested"]["ran"] = 1; },
          "the report tells of 2 passed tests, and 1 were counted as they ran"},
      {"expected failures", passed(), [](auto& r) { r["attested"]["expected_failures"] = 1; },
          "leads to expected_failures"},
      {"standard error", passed(), [](auto& r) { r["attested"]["redirected"] = true; },
          "closed the runner's standard error, or led it elsewhere"},
      {"a forged attestation", passed(), [](auto& r) { r["attestation_forged"] = true; }, "without knowing its key"},
      {"inherited capabilities", passed(), [](auto& r) { r["seen_inside"]["cap_inh"] = "00000000a80425fb"; },
          "cap_inh"},
      {"core dumps", passed(), [](auto& r) { r["seen_inside"]["rlimit_core"] = "unlimited"; }, "core dumps"},
      {"how limits were kept", passed(), [](auto& r) { r["enforced_by"] = ordered_json::object(); },
          "how limits were kept"},
      {"another backend", passed(), [](auto& r) { r["backend"] = r["check"]["mode"] = "foo"; }, "shape: backend: "},
      {"another program", passed(), [](auto& r) { r["command"][0] = "/bin/true"; }, "the command is not"},
      {"no attestation asked for", passed(),
          [](auto& r) {
            r["command"].erase(2);
            r["command"].erase(2);
          },
          "the command is not"},
      {"a filter", passed(), [](auto& r) { r["command"].push_back("-t"); }, "the command is not"},
      {"bun", passed(), [](auto& r) { r["bun"] = nullptr; }, "bun is missing"},
      {"the rules", passed(), [](auto& r) { r["rules"] = nullptr; }, "rules is missing"},
      {"the configuration", passed(), [](auto& r) { r["config"] = nullptr; }, "config is missing"},
      {"the image", passed(), [](auto& r) { r["image"] = nullptr; }, "image is missing"},
      {"a setting", passed(), [](auto& r) { r["config"]["values"]["backend"] = "\"docker\""; }, "configuration: "},
      {"the network", passed(), [](auto& r) { r["network"] = "host"; }, "the network is not"},
      {"a tier", passed(),
          [](auto& r) {
            r["tiers"] = {"always", "docker"};
          },
          "\"trust_namespace: ...\""},
      {"a pass in a shared environment", in_shared_environment,
          [](auto& r) { r["verdict"] = "allowed", r["reason"] = "tests_passed", r["exit_status"] = 0; },
          "leads to sandbox_unproved"},
      {"and that it was shared", in_shared_environment,
          [](auto& r) {
            r["verdict"] = "allowed", r["reason"] = "tests_passed", r["exit_status"] = 0;
            r["seen_inside"].erase("shared_environment");
          },
          "leads to sandbox_unproved"},
      {"where it ran", on_host, [](auto& r) { r["backend"] = "namespace"; }, "checked for another place"},
      {"a relaxation: host", on_host, [](auto& r) { r["relaxations"].erase(0); }, "\"host: ...\""},
      {"a relaxation: variable", on_host, [](auto& r) { r["relaxations"].erase(1); }, "run.env: TZ"},
      {"a relaxation: thin evidence", without_expect, [](auto& r) { r["relaxations"].clear(); },
          "no expect() was counted"},
      {"a rule folder", passed(), [](auto& r) { r["rules"]["folder"] = "/x"; }, "\"rules: ...\""},
      {"times", passed(), [](auto& r) { r["ended"] = "2029-01-31T00:00:00.000Z"; }, "ended before it began"},
      {"a day", passed(), [](auto& r) { r["ended"] = "2030-02-31T00:00:00.000Z"; }, "no such time"},
      {"a stage", passed(), [](auto& r) { r["timings_ms"]["run"] = 4000; }, "stages took longer"},
      {"an error of a pass", no_engine(), [](auto& r) { r["error"] = nullptr; },
          "it says no_environment, and what it holds leads to report_missing"},
      {"a pass out of nothing", no_engine(),
          [](auto& r) {
            r["verdict"] = "allowed", r["reason"] = "tests_passed", r["exit_status"] = 0, r["error"] = nullptr;
          },
          "leads to report_missing: nothing ran"},
  };
  for (const auto& forgery : forgeries) {
    const std::string honest = document(forgery.record);
    EXPECT_EQ(contradictions(honest), "") << forgery.what;
    EXPECT_THAT(contradictions(forged(honest, forgery.change)), HasSubstr(forgery.caught_by)) << forgery.what;
  }
}

TEST(EvidenceConsistency, FoldersThatWereAskedForHoldTheirTests) {
  for (const std::vector<std::string>& asked :
      std::vector<std::vector<std::string>>{{""}, {"sandbox/"}, {"sandbox/a.test.ts", "sandbox/"}, {"", "sandbox/"}}) {
    RunRecord record = passed();
    record.facts->files = asked;
    EXPECT_EQ(contradictions(document(record)), "") << asked.back();
  }
}

// docs/evidence.md names this as what cannot be caught; the day it is, the page has to say so.
TEST(EvidenceConsistency, AForgeryThatFitsEverywhereDoesNotShow) {
  const std::string text = forged(document(passed()), [](ordered_json& record) {
    record["tests"]["passed"] = 200;
    record["tests"]["tests"] = 200;
    record["tests"]["files"][0]["tests"] = 200;
    record["attested"]["ran"] = 200;
  });
  EXPECT_EQ(contradictions(text), "");
}

TEST(EvidenceConsistency, TerminatedRunsEndWith143) {
  RunRecord record = no_engine();
  record.error = Error(ErrorCode::cancelled, "stopped");
  record.verdict = verdict_of(*record.error);
  EXPECT_EQ(contradictions(evidence_document(record, "1", 130)), "");
  EXPECT_EQ(contradictions(evidence_document(record, "1", 143)), "");
  EXPECT_NE(contradictions(evidence_document(record, "1", 0)), "");
}

TEST(EvidenceFile, RefusesPlacesThatTheNextRunWouldTakeForSources) {
  const auto project = TempDir::create();
  ASSERT_TRUE(project && make_folders(project->path() / "sandbox") && make_folders(project->path() / "src"));
  const std::string root = project->path().string();
  for (const char* place : {"/sandbox/r.json", "/sandbox/", "/src/deep/", "/x/../src/r.json"}) {
    const auto found = evidence_place(root + place, project->path());
    ASSERT_FALSE(found) << place;
    EXPECT_EQ(found.error().code(), ErrorCode::input_invalid) << place;
  }
  EXPECT_FALSE(evidence_folder("sandbox/records", project->path()));
  EXPECT_TRUE(evidence_place(root + "/r.json", project->path()));
  EXPECT_TRUE(evidence_folder("evidence/of/runs", project->path()));
  EXPECT_TRUE(std::filesystem::is_directory(project->path() / "evidence/of/runs"));
}

TEST(EvidenceFile, RefusesWhatIsNoFileBeforeAnythingRuns) {
  const auto folder = TempDir::create();
  ASSERT_TRUE(folder);
  const std::string fifo = (folder->path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(evidence_place(fifo, {}));
  EXPECT_FALSE(evidence_place((folder->path() / "missing/r.json").string(), {}));
  EXPECT_FALSE(evidence_place("/proc/r.json", {}));  // root may write there, and nobody can
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
}

TEST(EvidenceFile, AFolderGetsAFileForEachRunAndAFileIsReplaced) {
  const auto folder = TempDir::create();
  ASSERT_TRUE(folder);
  const auto place = evidence_place(folder->path().string() + "/new/", {});
  ASSERT_TRUE(place);
  EXPECT_EQ(write_evidence(*place, "a.json", "1").value(), folder->path() / "new/a.json");
  EXPECT_EQ(write_evidence(*place, "b.json", "2").value(), folder->path() / "new/b.json");
  const auto file = evidence_place((folder->path() / "one.json").string(), {});
  ASSERT_TRUE(file);
  EXPECT_TRUE(write_evidence(*file, "ignored", "1") && write_evidence(*file, "ignored", "2"));
  EXPECT_EQ(read_file(folder->path() / "one.json", 9).value(), "2");
}

}  // namespace
}  // namespace guard
