#include "pipeline/evidence/evidence_consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/text/text.h"
#include "pipeline/evidence/evidence_digests.h"
#include "pipeline/run/preload.h"
#include "pipeline/run/test_command.h"
#include "pipeline/verdict.h"
#include "runner/init_side/init_stream.h"
#include "runner/sandbox/container_use_sandbox.h"

namespace guard {
namespace {

using nlohmann::json;
using Faults = std::vector<std::string>;
using Table = std::map<std::string, std::string>;

const std::string& text(const json& value) { return value.get_ref<const std::string&>(); }

bool is(const json& value, std::string_view wanted) { return value.is_string() && text(value) == wanted; }

// ---- verdict ----

Faults verdict_faults(const json& record) {
  const auto reason = reason_named(text(record["reason"]));
  if (!reason) return {fmt::format("there is no reason called {}", printable(text(record["reason"])))};
  Faults faults;
  const Verdict verdict{*reason, {}};
  if (!is(record["verdict"], to_string(verdict.kind()))) {
    faults.push_back(
        fmt::format("{} does not lead to the verdict {}", info(*reason).name, printable(text(record["verdict"]))));
  }
  const auto status = record["exit_status"].get<std::uint64_t>();
  const bool terminated = *reason == Reason::interrupted && status == 143;
  if (status != static_cast<std::uint64_t>(verdict.exit_status()) && !terminated) {
    faults.push_back(fmt::format("{} does not lead to the exit status {}", info(*reason).name, status));
  }
  const bool error = !record["error"].is_null();
  const bool decided = verdict.kind() == VerdictKind::allowed || verdict.kind() == VerdictKind::rejected;
  if (decided && error) faults.emplace_back("an error stands beside a verdict that needs none");
  const bool needs_error =
      *reason == Reason::error || *reason == Reason::output_withheld || *reason == Reason::no_environment;
  if (needs_error && !error) faults.emplace_back("the error that led to the verdict is missing");
  return faults;
}

// ---- proof ----

bool blocks(const json& finding) { return is(finding["severity"], "block"); }

bool gate_refused(const json& check) {
  const auto& findings = check["findings"];
  return std::any_of(findings.begin(), findings.end(), blocks);
}

void need(bool holds, std::string_view sentence, Faults& faults) {
  if (!holds) faults.emplace_back(sentence);
}

bool exited_with_zero(const json& record) {
  return record["outcome"].is_object() && is(record["outcome"]["kind"], "exited") && record["outcome"]["value"] == 0;
}

void need_a_held_sandbox(const json& record, Faults& faults) {
  need(exited_with_zero(record), "the program did not exit with 0", faults);
  if (is(record["backend"], "host")) return;
  const bool in_environment = is(record["backend"], "container-use");
  need(is(record["backend"], "docker") || is(record["backend"], "namespace") || in_environment,
      "there is no such backend", faults);
  const auto seen = record["seen_inside"].get<Table>();
  const std::string missing = missing_hardening(seen);
  if (!missing.empty()) faults.push_back(fmt::format("the sandbox {}", missing));
  if (const auto confined = in_environment ? check_environment(seen) : check_confinement(seen); !confined)
    faults.push_back(confined.error().message());
  need(!record["enforced_by"].empty(), "nothing says how limits were kept", faults);
}

// Paths differ from host to host; inside of a sandbox everything is where it always is.
void need_the_command(const json& record, Faults& faults) {
  const auto command = record["command"].get<std::vector<std::string>>();
  const auto files = record["files_asked"].get<std::vector<std::string>>();
  const bool on_host = is(record["backend"], "host");
  TestOptions options;
  options.preload = recorded_preload(command);
  const auto wanted = on_host && command.size() > 3 ? test_command(command[0], command[3], files, options)
      : is(record["backend"], "container-use")
      ? test_command(kBunInEnvironment, kAttestationInEnvironment, files, options)
      : test_command(kBunInside, kAttestationInside, files, options);
  need(command == wanted, "the command is not the one that runs these tests", faults);
  for (const auto& path : preloaded_files(options.preload)) {
    need(record["files"]["sha256"].contains(path),
        fmt::format("{} was loaded before the tests, and is not among the files", path), faults);
  }
}

// Without them nothing could be compared with what is there now.
void need_the_setting(const json& record, Faults& faults) {
  const bool in_environment = is(record["backend"], "container-use");
  // Which bun lies in an image of the configuration, or in the environment of another program, guard does not know.
  const bool foreign_bun =
      in_environment || (record["image"].is_object() && record["image"]["content_digest"].is_null());
  for (const std::string_view part : {"bun", "rules", "config", "limits", "image"}) {
    const bool needed =
        part == "image" ? !is(record["backend"], "host") && !in_environment : part != "bun" || !foreign_bun;
    need(!needed || record[std::string(part)].is_object(), fmt::format("{} is missing", part), faults);
  }
}

void need_every_test(const json& record, Faults& faults) {
  if (record["tests"].is_null()) {
    faults.emplace_back("no tests are recorded");
    return;
  }
  const json& tests = record["tests"];
  need(tests["passed"] > 0, "no test passed", faults);
  need(tests["failed"] == 0, "tests failed", faults);
  const json& asked = record["files_asked"];
  need(!asked.empty(), "no test file was asked for", faults);
  need(tests["files"].size() == asked.size(), "other files were tested than asked for", faults);
  for (const auto& file : asked) {
    const auto& rows = tests["files"];
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const json& candidate) { return candidate["file"] == file; });
    const bool ran = row != rows.end() && (*row)["tests"] > (*row)["skipped"];
    if (!ran) faults.push_back(fmt::format("no test ran in {}", printable(text(file))));
    const json& command = record["command"];
    const bool named = std::find(command.begin(), command.end(), "./" + text(file)) != command.end();
    if (!named) faults.push_back(fmt::format("the command does not name {}", printable(text(file))));
    if (!record["files"]["sha256"].contains(text(file)))
      faults.push_back(fmt::format("{} was not staged", printable(text(file))));
  }
}

void need_an_attestation(const json& record, Faults& faults) {
  need(record["attestation_forged"] == false, "somebody forged the attestation that all tests have ended", faults);
  const json& attested = record["attested"];
  if (attested.is_null() || record["tests"].is_null()) {
    faults.emplace_back("nobody attested that all tests have ended");
    return;
  }
  const auto ended = record["tests"]["passed"].get<std::uint64_t>() + record["tests"]["failed"].get<std::uint64_t>();
  need(attested["ran"] >= ended, "fewer tests were attested than the report tells of", faults);
  need(attested["expected_failures"] == 0, "tests were expected to fail", faults);
  need(attested["redirected"] == false, "the runner's standard error led elsewhere", faults);
}

// The gate looks once more where files were to come back.
bool checked_after_the_run(const json& record) {
  return record["collected"].is_object() && !is(record["collected"]["mode"], "none");
}

// What pipeline/verdict.cc needs for a pass, as far as it is recorded.
Faults proof_of_pass(const json& record, Reason reason) {
  Faults faults;
  if (reason == Reason::tests_passed) {
    need(record["check"].is_object() && is(record["check"]["verdict"], "allowed"),
        "the gate did not let the code through", faults);
    need(record["report_sha256"].is_string(), "bun's report is missing", faults);
    need_a_held_sandbox(record, faults);
    need_every_test(record, faults);
    need_the_command(record, faults);
    need_the_setting(record, faults);
    need_an_attestation(record, faults);
  } else if (reason == Reason::command_succeeded) {
    need(record["check"].is_null() && record["tests"].is_null(), "a command alone has neither findings nor tests",
        faults);
    need_a_held_sandbox(record, faults);
  } else {
    faults.push_back(fmt::format("no run ends with {}", info(reason).name));
  }
  return faults;
}

// How the program has to have ended for a reason; empty: it may have ended in any way, or not have been started.
std::string_view outcome_of(Reason reason) {
  switch (reason) {
    case Reason::tests_failed:
    case Reason::command_failed:
    case Reason::all_skipped:
    case Reason::expected_failures:
    case Reason::nothing_asserted:
    case Reason::assertion_swallowed:
    case Reason::flaky:
    case Reason::changed_meanwhile:
    case Reason::report_forged:
    case Reason::no_tests:
    case Reason::report_missing:
    case Reason::report_incomplete:
    case Reason::sandbox_unproved: return "exited";
    case Reason::crashed: return "signaled";
    case Reason::timed_out: return "timed_out";
    case Reason::out_of_memory: return "out_of_memory";
    case Reason::pids_limit: return "pids_limit";
    case Reason::output_flood: return "output_flood";
    case Reason::violation: return "violation";
    default: return {};
  }
}

Faults proof_of_refusal(const json& record, Reason reason) {
  Faults faults;
  const json& outcome = record["outcome"];
  if (reason == Reason::findings) {
    need(record["check"].is_object() && gate_refused(record["check"]), "no finding is recorded", faults);
    need(outcome.is_null() || checked_after_the_run(record), "the code ran although there were findings", faults);
  }
  // On the host a run may end well and have changed what was checked.
  const bool changed_on_host = reason == Reason::violation && is(record["backend"], "host");
  // What its first word gave away was ended before it could run anything.
  const bool ended_at_once = reason == Reason::sandbox_unproved && outcome.is_null() && record["error"].is_object();
  if (const auto kind = outcome_of(reason); !kind.empty() && !changed_on_host && !ended_at_once) {
    need(outcome.is_object() && is(outcome["kind"], kind), fmt::format("the run did not end as {}", kind), faults);
  }
  if (reason == Reason::tests_failed || reason == Reason::command_failed || reason == Reason::storage_full)
    need(!exited_with_zero(record), "the program exited with 0", faults);
  return faults;
}

// What holds for every run, whatever its verdict.
void check_order(const json& record, Faults& faults) {
  const json& check = record["check"];
  const bool ran = record["outcome"].is_object();
  if (check.is_object()) {
    need(gate_refused(check) == is(check["verdict"], "rejected"),
        "the findings do not lead to the verdict of the check", faults);
    need(check["mode"] == record["backend"], "the code was checked for another place than it ran in", faults);
    need(!ran || is(check["verdict"], "allowed") || checked_after_the_run(record),
        "the code ran although the check did not let it through", faults);
  }
  if (!ran) return;
  need(!record["command"].empty(), "the command is missing", faults);
  need(record["files"]["staged"] == true, "what ran was not staged", faults);
  need(record["limits"].is_object() && record["limits"]["network"] == record["network"],
      "the network is not the one asked for", faults);
  const json& tiers = record["tiers"];
  const auto has_tier = [&](std::string_view name) {
    return std::find(tiers.begin(), tiers.end(), name) != tiers.end();
  };
  need(has_tier("always") && has_tier("docker"), "a tier of rules is missing that always applies", faults);
  const bool unbounded = is(record["backend"], "host") || is(record["backend"], "container-use");
  need(!unbounded || has_tier("host"), "the host tier of rules is missing", faults);
}

Faults proof_faults(const json& record) {
  const auto reason = reason_named(text(record["reason"]));
  if (!reason) return {"the reason is unknown"};
  Faults faults = info(*reason).verdict == VerdictKind::allowed ? proof_of_pass(record, *reason)
                                                                : proof_of_refusal(record, *reason);
  check_order(record, faults);
  return faults;
}

// ---- sums ----

Faults test_faults(const json& record) {
  const json& tests = record["tests"];
  if (tests.is_null()) return {};
  Faults faults;
  for (const char* count : {"tests", "failed", "skipped", "assertions"}) {
    std::uint64_t sum = 0;
    for (const auto& file : tests["files"]) sum += file[count].get<std::uint64_t>();
    if (sum != tests[count])
      faults.push_back(
          fmt::format("{}: the files come to {}, the sum says {}", count, sum, tests[count].get<std::uint64_t>()));
  }
  const auto parts = tests["passed"].get<std::uint64_t>() + tests["failed"].get<std::uint64_t>() +
      tests["skipped"].get<std::uint64_t>();
  if (parts != tests["tests"])
    faults.push_back(
        fmt::format("passed, failed and skipped come to {} of {}", parts, tests["tests"].get<std::uint64_t>()));
  if (tests["failures"].size() != tests["failed"]) faults.emplace_back("not every failed test is listed");
  return faults;
}

Faults file_list_faults(const json& record) {
  const json& files = record["files"];
  if (files_digest(files["sha256"].get<Table>()) == text(files["digest"])) return {};
  return {"the digest over all files is not that of the files listed"};
}

Faults config_faults(const json& record) {
  const json& config = record["config"];
  if (config.is_null()) return {};
  if (config_digest(config["values"].get<Table>()) == text(config["digest"])) return {};
  return {"the digest of the configuration is not that of the values listed"};
}

// ---- relaxations ----

// The beginnings of the relaxations that follow from the rest of the record.
std::vector<std::string> expected_relaxations(const json& record) {
  std::vector<std::string> expected;
  const json& tiers = record["tiers"];
  const bool in_namespace = is(record["backend"], "namespace");
  const bool in_docker = is(record["backend"], "docker");
  const bool in_environment = is(record["backend"], "container-use");
  if (is(record["backend"], "host")) expected.emplace_back("host: ");
  if (in_environment) expected.emplace_back("container-use: ");
  if (in_namespace && std::find(tiers.begin(), tiers.end(), "host") == tiers.end())
    expected.emplace_back("trust_namespace: ");
  if (in_docker && record["network"].is_string() && !is(record["network"], "none"))
    expected.emplace_back("docker.network = ");
  if (record["rules"].is_object() && record["rules"]["folder"].is_string()) expected.emplace_back("rules: ");
  if (record["check"].is_object() && !record["check"]["waived"].empty()) expected.emplace_back("waiver: ");
  if (record["tests"].is_object()) {
    for (const auto& file : record["tests"]["files"]) {
      if (file["assertions"] == 0)
        expected.push_back(fmt::format("evidence: no expect() was counted in {}", text(file["file"])));
    }
  }
  if (record["config"].is_null()) return expected;
  const Table values = record["config"]["values"].get<Table>();
  const auto value = [&](const char* key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string() : found->second;
  };
  for (const char* key : {"redact.kinds_off", "check.two_hit_ignore"}) {
    if (value(key) != "[]") expected.push_back(fmt::format("{}: ", key));
  }
  // --backend is no key; the sentence that says why is the one place where it can be seen.
  const bool asked_for = is(record["why_backend"], "the embedded sandbox was asked for with --backend") ||
      is(record["why_backend"], "container-use was asked for with --backend");
  const bool fell_back =
      (in_namespace && (value("backend") == "\"docker\"" || value("backend") == "\"container-use\"")) ||
      (in_environment && value("backend") == "\"docker\"");
  if (fell_back && !asked_for) expected.emplace_back("fallback: ");
  if (in_environment && value("container_use.env_id") != "\"\"") expected.emplace_back("container_use.env_id = ");
  if (record["files"]["staged"] != true) return expected;
  if (in_docker && value("docker.image") != "\"\"") expected.emplace_back("docker.image = ");
  const bool own_image = in_namespace || (in_docker && value("docker.image") == "\"\"");
  if (own_image && values.count("image.tools") != 0 && value("image.tools") != "[]")
    expected.emplace_back("image.tools: ");
  constexpr std::string_view kVariable = "run.env.";
  for (const auto& [key, ignored] : values) {
    if (key.starts_with(kVariable))
      expected.push_back(fmt::format("run.env: {} is passed in", key.substr(kVariable.size())));
  }
  return expected;
}

Faults relaxation_faults(const json& record) {
  Faults faults;
  const json& relaxations = record["relaxations"];
  if (record["widenings"] != relaxations) faults.emplace_back("widenings, their old name, does not hold the same");
  if (record["backend"].is_null()) return faults;
  for (const auto& expected : expected_relaxations(record)) {
    const bool told = std::any_of(relaxations.begin(), relaxations.end(),
        [&](const json& relaxation) { return text(relaxation).starts_with(expected); });
    if (!told) faults.push_back(fmt::format("\"{}...\" is missing", printable(expected)));
  }
  return faults;
}

// ---- times ----

// Of "2030-01-31T12:00:00.000Z"; nothing where there is no such day or hour.
std::optional<std::chrono::sys_time<std::chrono::milliseconds>> time_of(std::string_view written) {
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    std::from_chars(written.data() + at, written.data() + at + digits, value);
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
      std::chrono::month(static_cast<unsigned>(number(5, 2))), std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!day.ok() || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 60) return std::nullopt;
  return std::chrono::sys_days(day) + std::chrono::hours(number(11, 2)) + std::chrono::minutes(number(14, 2)) +
      std::chrono::seconds(number(17, 2)) + std::chrono::milliseconds(number(20, 3));
}

// Both times come from one clock reading and a steady span, so a clock that was set meanwhile does not show here.
Faults time_faults(const json& record) {
  const auto started = time_of(text(record["started"]));
  const auto ended = time_of(text(record["ended"]));
  if (!started || !ended) return {"there is no such time"};
  if (*ended < *started) return {"it ended before it began"};
  std::uint64_t stages_ms = 0;
  for (const auto& time : record["timings_ms"]) stages_ms += time.get<std::uint64_t>();
  if (stages_ms <= static_cast<std::uint64_t>((*ended - *started).count())) return {};
  return {"its stages took longer than all of it"};
}

EvidenceCheck conclude(std::string name, std::string holds, std::string fails, Faults faults) {
  EvidenceCheck check{std::move(name), CheckState::ok, std::move(holds), {}, ""};
  if (faults.empty()) return check;
  check.state = CheckState::differs;
  check.sentence = std::move(fails);
  check.details = std::move(faults);
  check.next = "do not rely on the record: it is not as guard wrote it; run the tests again";
  return check;
}

}  // namespace

std::vector<EvidenceCheck> check_consistency(const json& record) {
  return {
      conclude("verdict", "verdict, reason and exit status belong together",
          "verdict, reason and exit status contradict each other", verdict_faults(record)),
      conclude("proof", "what the verdict needs is recorded", "the record does not bear its verdict out",
          proof_faults(record)),
      conclude("tests", "the sums of the tests agree", "the sums of the tests do not agree", test_faults(record)),
      conclude("file list", "the files listed make up the digest", "the list of files was changed",
          file_list_faults(record)),
      conclude("configuration", "the values listed make up the digest", "the configuration was changed",
          config_faults(record)),
      conclude("relaxations", "every relaxation that shows elsewhere is told", "relaxations were taken out",
          relaxation_faults(record)),
      conclude("times", "the times are in order", "the times contradict each other", time_faults(record)),
  };
}

}  // namespace guard
