#include "pipeline/report/reports.h"

#include <fmt/format.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "pipeline/report/json_fields.h"
#include "pipeline/report/json_parts.h"
#include "pipeline/report/rule_page.h"

namespace guard {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

// What to do next: an error knows better than the table.
std::string_view next_step(const Verdict& verdict, const std::optional<Error>& error) {
  return error && !error->hint().empty() ? error->hint() : info(verdict.reason).next;
}

void verdict_fields(JsonFields& fields, const Verdict& verdict, const std::optional<Error>& error) {
  const ReasonInfo& row = info(verdict.reason);
  fields("version", kVersion);
  fields("verdict", verdict.kind());
  fields("reason", row.name);
  fields("message",
      verdict.detail.empty() ? std::string(row.sentence) : fmt::format("{}: {}", row.sentence, verdict.detail));
  fields.if_any("next", next_step(verdict, error));
}

void finding_fields(JsonFields& fields, const Finding& finding) {
  finding_place_fields(fields, finding);
  fields("excerpt", finding.excerpt);
  fields("message", finding.message);
  fields("fix", finding.fix);
  if (!finding.confirmed) fields("confirmed", false);
  fields.if_any("matched", finding.matched);
  fields("fingerprint", finding.fingerprint);
  fields("doc", rule_page(finding.rule, finding.tier));
}

void waiver_fields(JsonFields& fields, const CheckRecord& record) {
  if (!record.waivers.empty()) {
    fields.rows("waivers", record.waivers, [](JsonFields& row, const UsedWaiver& used) {
      row("rule", used.waiver.rule);
      row("path", used.waiver.path);
      row("reason", used.waiver.reason);
      row("expires", used.waiver.expires);
      row("findings", used.findings);
    });
  }
  if (!record.idle_waivers.empty()) {
    fields.rows("waivers_idle", record.idle_waivers, [](JsonFields& row, const IdleWaiver& idle) {
      row("rule", idle.waiver.rule);
      row("path", idle.waiver.path);
      row("expires", idle.waiver.expires);
      row("why", idle.why);
      row("message", idle.sentence);
    });
  }
  if (!record.waived.empty()) {
    fields.rows("waived", record.waived, [](JsonFields& row, const WaivedFinding& waived) {
      finding_fields(row, waived.finding);
      row("reason", waived.waiver.reason);
      row("expires", waived.waiver.expires);
    });
  }
}

void check_fields(JsonFields& fields, const CheckRecord& record) {
  verdict_fields(fields, record.verdict, record.error);
  fields("mode", record.mode);
  fields("tiers", record.tiers);
  fields("files", record.report.files);
  fields("bytes", record.report.bytes);
  fields("secrets_only", record.secrets_only);
  fields("ignored_files", record.ignored_files);
  fields("passed_over", record.ignored_files);  // its name until the next version of the document
  fields("known", record.known);
  if (record.change) {
    fields.part("change", record.change, [](JsonFields& part, const ChangeSize& change) {
      part("files", change.files);
      part("lines_added", change.lines_added);
      part("lines_removed", change.lines_removed);
    });
  }
  fields("rules_digest", record.rules_digest);
  fields.rows("findings", record.report.findings, finding_fields);
  waiver_fields(fields, record);
  if (record.error) fields("error", error_json(*record.error));
}

void test_fields(JsonFields& fields, const RunRecord& record) {
  const TestSummary tests = record.tests.value_or(TestSummary());
  fields("passed", tests.passed);
  fields("failed", tests.failures);
  fields("skipped", tests.skipped);
  fields("files", tests.files.size());
  fields("assertions", tests.assertions);
  const std::vector<Failure> failures = failures_of(record);
  fields.rows("failures", failures, [](JsonFields& row, const Failure& failure) {
    row("file", failure.file);
    row("line", failure.line);
    row("column", failure.column);
    row("name", failure.test);
    row("kind", failure.kind);
    row("message", failure.message);
    row.if_any("next", failure.next);
  });
}

double tenths_of_milliseconds(std::chrono::microseconds time) {
  return std::round(static_cast<double>(time.count()) / 100) / 10;
}
double milliseconds_of(std::chrono::microseconds time) { return static_cast<double>(time.count()) / 1000; }

// What came of a file and its tests.
void result_fields(JsonFields& fields, const FileResult& result, const ReportIndex& index) {
  fields("file", result.file);
  fields("state", result.state);
  if (is_failure(result.state)) {
    fields("reason", info(result.reason).name);
    fields("message", result.detail.empty() ? info(result.reason).sentence : std::string_view(result.detail));
  }
  fields.if_any("last_test", result.last_test);
  const TestFileSummary* row = index.counts(result.file);
  if (row == nullptr) return;
  fields("assertions", row->assertions);
  fields("duration_ms", milliseconds_of(row->duration));
  fields.rows("tests", index.cases(result.file), [](JsonFields& inner, const TestCase* test) {
    inner("name", test->name);
    inner("state", test->state);
    inner("line", test->line);
    inner("assertions", test->assertions);
    inner("duration_ms", milliseconds_of(test->duration));
  });
}

void coverage_fields(JsonFields& fields, const LineCoverage::value_type& file) {
  fields("file", file.first);
  fields("lines", file.second.size());
  fields("covered", count_covered(file.second));
  fields("not_covered", Json(uncovered_ranges(file.second)));
}

void exec_fields(JsonFields& fields, const ExecResult& exec) {
  fields("outcome", exec.outcome.kind);
  fields("value", exec.outcome.value);
  fields.if_any("detail", exec.outcome.detail);
  fields("cpu_ms", exec.cpu);
  fields("memory_peak_bytes", exec.memory_peak_bytes);
  fields("stdout_bytes", exec.stdout_bytes);
  fields("stderr_bytes", exec.stderr_bytes);
  if (exec.attested) {
    fields.part("attested", exec.attested, [](JsonFields& part, const Attested& attested) {
      part("ran", attested.count("begun"));
      part("expected_failures", attested.count("expected_failures"));
      part("redirected", attested.redirected);
    });
  }
  fields("seen_inside", exec.seen_inside);
  fields("enforced_by", exec.enforced_by);
}

void stream_fields(JsonFields& fields, const StreamRecord& stream) {
  if (stream.file.empty()) {
    fields("text", stream.text);
    fields("truncated", stream.truncated);
  } else {
    fields("file", stream.file);
    fields("bytes", stream.bytes);
    fields("sha256", stream.sha256);
  }
}

// A time-out is an outcome and no error of guard's. Who reads codes alone finds it here, with the limit that was
// passed: that of the run, or of one test file.
Error time_out_error(const RunRecord& record) {
  Error error(ErrorCode::execution_timeout, std::string(info(record.verdict.reason).sentence));
  if (!record.spec) return error;
  milliseconds limit = record.spec->each_timeout.count() > 0 ? record.spec->each_timeout : record.spec->timeout;
  if (record.exec && record.exec->outcome.kind == OutcomeKind::timed_out)
    limit = milliseconds(record.exec->outcome.value);
  return std::move(error).detail("timeout", std::to_string(limit.count()));
}

void collected_fields(JsonFields& fields, const CollectRecord& record) {
  fields("mode", record.policy);
  fields.rows("files", record.files, [](JsonFields& row, const BroughtBack& file) {
    row("path", file.path);
    row("bytes", file.bytes);
    row("sha256", file.sha256);
  });
  fields.rows("left_behind", record.left_behind, [](JsonFields& row, const LeftBehind& entry) {
    row("path", entry.path);
    row("reason", entry.reason);
  });
  fields("left_behind_count", record.left_behind_count);
  fields("complete", record.complete);
}

// What there is only where something ran.
void sandbox_fields(JsonFields& fields, const RunRecord& record) {
  if (record.exec) fields.part("exec", record.exec, exec_fields);
  if (record.collected) fields.part("collected", record.collected, collected_fields);
  if (record.network) fields.part("egress", record.network, network_fields<const NetworkRecord>);
  if (!record.spec) return;
  fields("run_id", record.spec->run_id);
  fields.part("image", true, [&](JsonFields& image) {
    image("reference", record.spec->image.reference);
    image("id", record.spec->image.id);
  });
}

}  // namespace

std::string check_document(const CheckRecord& record) {
  Json json;
  JsonFields fields(json);
  check_fields(fields, record);
  return dump(json);
}

std::string run_document(const RunRecord& record) {
  Json json;
  JsonFields fields(json);
  verdict_fields(fields, record.verdict, record.error);
  fields("backend", record.backend);
  fields("why_backend", record.why_backend);
  fields("tiers", record.tiers);
  fields.part("tests", true, [&](JsonFields& part) { test_fields(part, record); });
  const ReportIndex index(record);
  fields.rows(
      "results", record.files, [&](JsonFields& row, const FileResult& result) { result_fields(row, result, index); });
  if (record.lines) fields.rows("coverage", *record.lines, coverage_fields);
  fields.part("check", record.check, check_fields);
  fields.part("output", true, [&](JsonFields& output) {
    output("kept_bytes", record.kept_bytes);
    output("dropped_bytes", record.dropped_bytes);
    output("redactions", record.redactions);
    output.if_any("not_masked", record.unmasked);
  });
  fields.part("limits", true, [&](JsonFields& limits) {
    if (record.spec) limits_fields(limits, *record.spec, record.keep_bytes);
  });
  fields("jobs", record.jobs);
  if (record.out) fields.part("stdout", record.out, stream_fields);
  if (record.err) fields.part("stderr", record.err, stream_fields);
  sandbox_fields(fields, record);
  fields("hashes", record.hashes);
  fields.if_any("preload", record.preload);
  std::vector<std::string> left_out = record.left_out;
  for (const auto& finding : record.refused) left_out.push_back(finding.path);
  fields("left_out", left_out);
  fields.rows("left_out_for", record.refused, finding_fields);
  fields("relaxations", record.relaxations);
  fields("widenings", record.relaxations);  // their name until the next version of the document
  fields.if_any("notes", record.notes);
  fields("timings_ms", record.timings);
  if (!record.timeline.empty()) {
    fields.rows("timeline", record.timeline, [](JsonFields& row, const Timeline::Stage& stage) {
      row("stage", stage.name);
      row("at_ms", tenths_of_milliseconds(stage.at));
      row("ms", tenths_of_milliseconds(stage.took));
    });
  }
  fields.if_any("evidence", record.evidence_file);
  if (record.error) {
    fields("error", error_json(*record.error));
  } else if (record.verdict.reason == Reason::timed_out) {
    fields("error", error_json(time_out_error(record)));
  }
  return dump(json);
}

}  // namespace guard
