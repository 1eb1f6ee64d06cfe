#include "pipeline/evidence/evidence_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/text/text.h"
#include "common/text/toml_file.h"
#include "pipeline/gate/source_files.h"
#include "pipeline/network.h"
#include "pipeline/run/preload.h"
#include "pipeline/run/test_command.h"
#include "pipeline/verdict.h"
#include "runner/init_side/init_stream.h"
#include "runner/sandbox/container_use_sandbox.h"

namespace guard {
namespace {

using Faults = std::vector<std::string>;

void need(bool holds, std::string_view sentence, Faults& faults) {
  if (!holds) faults.emplace_back(sentence);
}

template <typename List>
bool has(const List& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// ---- verdict ----

Faults verdict_faults(const EvidenceRecord& record) {
  const auto reason = reason_named(record.reason);
  if (!reason) return {fmt::format("there is no reason called {}", printable(record.reason))};
  Faults faults;
  const Verdict verdict{*reason, {}};
  need(record.verdict == to_string(verdict.kind()),
      fmt::format("{} does not lead to the verdict {}", record.reason, record.verdict), faults);
  const bool terminated = *reason == Reason::interrupted && record.exit_status == 143;
  need(record.exit_status == static_cast<std::uint64_t>(verdict.exit_status()) || terminated,
      fmt::format("{} does not lead to the exit status {}", record.reason, record.exit_status), faults);
  return faults;
}

// ---- proof ----

bool is_folder(const std::string& name) { return name.empty() || name.ends_with('/'); }

// Those that were staged; "" is the project's.
std::vector<std::string> tests_below(const std::string& folder, const RunRecord& run) {
  std::vector<std::string> tests;
  for (auto at = run.hashes.lower_bound(folder); at != run.hashes.end() && at->first.starts_with(folder); ++at) {
    if (is_test_name(at->first.substr(at->first.rfind('/') + 1))) tests.push_back(at->first);
  }
  return tests;
}

// The test files of the names that were asked for.
std::vector<std::string> asked_tests(const RunRecord& run) {
  std::vector<std::string> tests;
  std::set<std::string> seen;
  for (const std::string& name : run.facts->files) {
    if (!seen.insert(name).second) continue;
    if (!is_folder(name)) {
      tests.push_back(name);
      continue;
    }
    for (const std::string& path : tests_below(name, run)) {
      if (seen.insert(path).second) tests.push_back(path);
    }
  }
  return tests;
}

// The judge's verdict on the tests that are recorded. A record holds sums, so each file's summary is taken to have said
// what its report says; what was counted as tests ran holds no more than those that began.
Verdict judged_tests(const EvidenceRecord& record) {
  const RunRecord& run = record.run;
  RunObservations seen;
  seen.files = asked_tests(run);
  seen.exec = *run.exec;
  seen.assertions = Assertions::off;  // those that are missing are a relaxation
  seen.sandboxed = run.backend != "host";
  // Who takes it out of what was seen has to take it out of the configuration, too.
  if (run.backend == "container-use" && !recorded_config(record).container_use.env_id.empty())
    seen.exec.seen_inside["shared_environment"] = "1";
  std::optional<TestSummary> tests = run.facts->report_sha256.empty() ? std::nullopt : run.tests;
  if (tests) {
    seen.text = TextSummary{tests->passed, tests->skipped, tests->failures, tests->tests, tests->files.size()};
    if (auto& attested = seen.exec.attested) {
      const std::uint64_t failed = std::min(tests->failures, record.attested_ran);
      attested->counts = {{"expected_failures", record.attested_expected_failures}, {"failed", failed},
          {"passed", std::min(tests->passed, record.attested_ran - failed)}};
    }
  }
  return judge_recorded_run(seen, std::move(tests)).verdict;
}

// The judge's verdict on all that is recorded.
Verdict judged(const EvidenceRecord& record) {
  const RunRecord& run = record.run;
  if (run.error) return verdict_of(*run.error);
  if (run.check && (!run.exec || run.check->report.rejected())) return verdict_of(run.check->report, true);
  if (!run.exec) return {Reason::report_missing, "nothing ran"};
  if (run.facts->files.empty()) return judge_command(*run.exec, run.backend != "host");
  if (!run.check) return {Reason::no_files, "the gate did not look at the tests"};
  return judged_tests(record);
}

// Verdicts on what a record does not hold: which test it was about, what standard error said, which file was changed.
constexpr Reason kNotRecorded[] = {Reason::violation, Reason::all_skipped, Reason::expected_failures,
    Reason::nothing_asserted, Reason::assertion_swallowed, Reason::flaky, Reason::report_forged, Reason::no_tests,
    Reason::report_missing, Reason::report_incomplete, Reason::changed_meanwhile, Reason::sandbox_unproved};

void need_the_verdict(const EvidenceRecord& record, Reason reason, Faults& faults) {
  const Verdict found = judged(record);
  if (found.reason == reason) return;
  const auto& exec = record.run.exec;
  const bool exited = exec && (exec->outcome.kind == OutcomeKind::exited || asked_tests(record.run).size() > 1);
  const bool elsewhere = std::find(std::begin(kNotRecorded), std::end(kNotRecorded), reason) != std::end(kNotRecorded);
  if (elsewhere && exited && !record.run.error) return;
  faults.push_back(fmt::format("it says {}, and what it holds leads to {}: {}", record.reason, info(found.reason).name,
      printable(found.detail.empty() ? std::string(info(found.reason).sentence) : found.detail)));
}

// Paths differ from host to host; inside of a sandbox everything is where it always is.
void need_the_command(const RunRecord& run, Faults& faults) {
  const std::vector<std::string> command = run.spec ? run.spec->argv : std::vector<std::string>();
  const auto files = asked_tests(run);
  TestOptions options;
  options.preload = recorded_preload(command);
  const auto wanted = run.backend == "host" && command.size() > 3 ? test_command(command[0], command[3], files, options)
      : run.backend == "container-use" ? test_command(kBunInEnvironment, kAttestationInEnvironment, files, options)
                                       : test_command(kBunInside, kAttestationInside, files, options);
  need(command == wanted, "the command is not the one that runs these tests", faults);
  for (const auto& path : preloaded_files(options.preload))
    need(run.hashes.count(path) != 0, fmt::format("{} was loaded before the tests, and is not among the files", path),
        faults);
  for (const auto& path : files) need(run.hashes.count(path) != 0, fmt::format("{} was not staged", path), faults);
  for (const auto& name : run.facts->files)
    need(!is_folder(name) || !tests_below(name, run).empty(),
        fmt::format("there are no tests in {} among the files", name.empty() ? "the project" : printable(name)),
        faults);
}

// Without them nothing could be compared with what is there now.
void need_the_setting(const EvidenceRecord& record, Faults& faults) {
  const RunRecord& run = record.run;
  const RunFacts& facts = *run.facts;
  const bool in_environment = run.backend == "container-use";
  const bool has_image = run.spec && !run.spec->image.reference.empty();
  // Which bun lies in an image of the configuration, or in the environment of another program, guard does not know.
  need(!facts.bun_sha256.empty() || in_environment || (has_image && facts.image_digest.empty()), "bun is missing",
      faults);
  need(!facts.rules_digest.empty(), "rules is missing", faults);
  need(!record.config.empty(), "config is missing", faults);
  need(run.spec.has_value(), "limits is missing", faults);
  need(has_image || in_environment || run.backend == "host", "image is missing", faults);
}

void need_a_held_sandbox(const RunRecord& run, Faults& faults) {
  if (run.backend == "host" || !run.exec) return;
  const auto confined = run.backend == "container-use" ? check_environment(run.exec->seen_inside)
                                                       : check_confinement(run.exec->seen_inside);
  if (!confined) faults.push_back(confined.error().message());
  need(!run.exec->enforced_by.empty(), "nothing says how limits were kept", faults);
}

// What holds for every run, whatever its verdict.
void need_the_order(const EvidenceRecord& record, Faults& faults) {
  const RunRecord& run = record.run;
  // The gate looks once more where files were to come back.
  const bool checked_after = run.collected && run.collected->policy != CollectPolicy::none;
  if (run.check) {
    need(run.check->report.rejected() == (record.check_verdict == "rejected"),
        "the findings do not lead to the verdict of the check", faults);
    need(run.check->mode == run.backend, "the code was checked for another place than it ran in", faults);
    need(!run.exec || record.check_verdict == "allowed" || checked_after,
        "the code ran although the check did not let it through", faults);
  }
  if (!run.exec) return;
  need(run.spec && !run.spec->argv.empty(), "the command is missing", faults);
  need(run.staged, "what ran was not staged", faults);
  need(run.spec && to_string(run.spec->network) == record.network, "the network is not the one asked for", faults);
  if (!record.config.empty() && (run.backend == "docker" || run.backend == "namespace")) {
    Config config = recorded_config(record);
    if (run.tests) leave_registries_out(config);
    // A task of a night may have narrowed the list to nothing.
    const bool closed = network_of(config) == Network::allowlist && record.network == "none";
    need(closed || to_string(network_of(config)) == record.network, "the network is not that of the configuration",
        faults);
    need(run.network.has_value() == (record.network == "allowlist"),
        "connections are told of a run without an allowlist, or not told of one with it", faults);
  }
  need(has(run.tiers, "always") && has(run.tiers, "docker"), "a tier of rules is missing that always applies", faults);
  need((run.backend != "host" && run.backend != "container-use") || has(run.tiers, "host"),
      "the host tier of rules is missing", faults);
}

Faults proof_faults(const EvidenceRecord& record) {
  const auto reason = reason_named(record.reason);
  if (!reason) return {"the reason is unknown"};
  Faults faults;
  need_the_verdict(record, *reason, faults);
  if (info(*reason).verdict == VerdictKind::allowed) need_a_held_sandbox(record.run, faults);
  if (*reason == Reason::command_succeeded)
    need(!record.run.check && !record.run.tests, "a command alone has neither findings nor tests", faults);
  if (*reason == Reason::tests_passed) {
    need_the_command(record.run, faults);
    need_the_setting(record, faults);
  }
  need_the_order(record, faults);
  return faults;
}

// ---- sums ----

Faults test_faults(const EvidenceRecord& record) {
  if (!record.run.tests) return {};
  const TestSummary& tests = *record.run.tests;
  Faults faults;
  const auto add_up = [&](std::string_view name, std::uint64_t TestFileSummary::*part, std::uint64_t sum) {
    std::uint64_t parts = 0;
    for (const auto& file : tests.files) parts += file.*part;
    need(parts == sum, fmt::format("{}: the files come to {}, the sum says {}", name, parts, sum), faults);
  };
  add_up("tests", &TestFileSummary::tests, tests.tests);
  add_up("failed", &TestFileSummary::failures, tests.failures);
  add_up("skipped", &TestFileSummary::skipped, tests.skipped);
  add_up("assertions", &TestFileSummary::assertions, tests.assertions);
  const std::uint64_t parts = tests.passed + tests.failures + tests.skipped;
  need(parts == tests.tests, fmt::format("passed, failed and skipped come to {} of {}", parts, tests.tests), faults);
  need(tests.cases.size() == tests.failures, "not every failed test is listed", faults);
  return faults;
}

// ---- relaxations ----

std::string text_of(const std::string& toml) {
  const auto root = parse_toml("value = " + toml, "the record");
  return root && root->find("value") != nullptr ? root->find("value")->text : toml;
}

// The beginnings of the relaxations that follow from the rest of the record.
Faults expected_relaxations(const EvidenceRecord& record) {
  const RunRecord& run = record.run;
  const Config config = recorded_config(record);
  const auto backend = named<Backend>(run.backend);
  const bool in_docker = backend == Backend::docker;
  const bool in_namespace = backend == Backend::namespace_sandbox;
  const bool in_environment = backend == Backend::container_use;
  // --backend is no key; the sentence that says why is the one place where it can be seen.
  const bool fell_back =
      (in_namespace || in_environment) && config.backend != *backend && config.backend != Backend::host;
  const bool asked_for = run.why_backend == "the embedded sandbox was asked for with --backend" ||
      run.why_backend == "container-use was asked for with --backend";
  const bool named_image = in_docker && !config.docker.image.empty();
  const std::pair<bool, std::string_view> rows[] = {
      {backend == Backend::host, "host: "},
      {in_environment, "container-use: "},
      {in_namespace && !has(run.tiers, "host"), "trust_namespace: "},
      {in_docker && (record.network == "bridge" || record.network == "host"), "docker.network = "},
      {record.network == "allowlist", "network.allow: "},
      {record.network == "allowlist" && !config.network.authorities.empty(), "network.authorities = "},
      {!config.network.proxy.empty(), "network.proxy = "},
      {!run.facts->rules_folder.empty(), "rules: "},
      {run.check && !run.check->waived.empty(), "waiver: "},
      {!config.redact.kinds_off.empty(), "redact.kinds_off: "},
      {!config.check.two_hit_ignore.empty(), "check.two_hit_ignore: "},
      {!record.config.empty() && fell_back && !asked_for, "fallback: "},
      {in_environment && !config.container_use.env_id.empty(), "container_use.env_id = "},
      {run.staged && named_image, "docker.image = "},
      {run.staged && (in_namespace || (in_docker && !named_image)) && !config.image.tools.empty(), "image.tools: "},
  };
  Faults expected;
  for (const auto& [holds, beginning] : rows) need(!holds, beginning, expected);
  if (run.tests) {
    for (const auto& file : run.tests->files)
      need(file.assertions != 0, fmt::format("evidence: no expect() was counted in {}", file.file), expected);
  }
  for (const auto& [key, value] : record.config) {
    if (record.network == "allowlist" && key.starts_with("network.credential["))
      expected.push_back("network.credential: " + text_of(value));
  }
  constexpr std::string_view kVariable = "run.env.";
  for (const auto& [key, ignored] : record.config)
    need(!run.staged || !key.starts_with(kVariable),
        fmt::format("run.env: {} is passed in", key.substr(std::min(kVariable.size(), key.size()))), expected);
  return expected;
}

Faults relaxation_faults(const EvidenceRecord& record) {
  Faults faults;
  const auto& relaxations = record.run.relaxations;
  need(relaxations == record.widenings, "relaxations and widenings, their old name, are not the same", faults);
  if (record.run.backend.empty()) return faults;
  for (const auto& expected : expected_relaxations(record)) {
    const bool told = std::any_of(relaxations.begin(), relaxations.end(),
        [&](const std::string& relaxation) { return relaxation.starts_with(expected); });
    need(told, fmt::format("\"{}...\" is missing", expected), faults);
  }
  return faults;
}

// ---- times ----

// Both times come from one clock reading and a steady span, so a clock that was set meanwhile does not show here.
Faults time_faults(const EvidenceRecord& record) {
  const auto started = time_of(record.started);
  const auto ended = time_of(record.ended);
  if (!started || !ended) return {"there is no such time"};
  if (*ended < *started) return {"it ended before it began"};
  milliseconds left = *ended - *started;
  for (const auto& [name, time] : record.run.timings) {
    if (time > left) return {"its stages took longer than all of it"};
    left -= time;
  }
  return {};
}

EvidenceCheck conclude(std::string name, std::string holds, std::string fails, Faults faults) {
  EvidenceCheck check{std::move(name), CheckState::ok, std::move(holds), {}, ""};
  if (faults.empty()) return check;
  check.state = CheckState::differs;
  check.sentence = std::move(fails);
  for (const auto& fault : faults) check.details.push_back(printable(fault));
  check.next = "do not rely on the record: it is not as guard wrote it; run the tests again";
  return check;
}

Faults fault_unless(bool holds, std::string_view sentence) {
  Faults faults;
  need(holds, sentence, faults);
  return faults;
}

}  // namespace

std::vector<EvidenceCheck> check_consistency(const EvidenceRecord& record) {
  return {
      conclude("verdict", "verdict, reason and exit status belong together",
          "verdict, reason and exit status contradict each other", verdict_faults(record)),
      conclude("proof", "what the verdict needs is recorded", "the record does not bear its verdict out",
          proof_faults(record)),
      conclude("tests", "the sums of the tests agree", "the sums of the tests do not agree", test_faults(record)),
      conclude("file list", "the files listed make up the digest", "the list of files was changed",
          fault_unless(files_digest(record.run.hashes) == record.files_digest,
              "the digest over all files is not that of the files listed")),
      conclude("configuration", "the values listed make up the digest", "the configuration was changed",
          fault_unless(record.config.empty() || config_digest(record.config) == record.config_digest,
              "the digest of the configuration is not that of the values listed")),
      conclude("relaxations", "every relaxation that shows elsewhere is told", "relaxations were taken out",
          relaxation_faults(record)),
      conclude("times", "the times are in order", "the times contradict each other", time_faults(record)),
  };
}

}  // namespace guard
