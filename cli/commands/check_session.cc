#include "cli/commands/check_session.h"

#include "pipeline/evidence/masked_record.h"
#include "pipeline/report/reports.h"
#include "pipeline/run/run_output.h"

namespace guard {
namespace {

std::string report_of(
    const CheckRecord& record, OutputFormat format, const CheckSession& session, const Streams& streams) {
  switch (format) {
    case OutputFormat::json: return check_document(record);
    case OutputFormat::sarif:
      return check_sarif(record,
          {session.engine.rules == nullptr ? RuleSet::shipped() : *session.engine.rules, GUARD_VERSION,
              session.loaded.config.check.docs_url});
    case OutputFormat::junit: return check_junit(record);
    case OutputFormat::github: return check_annotations(record);
    default: return check_text(record, streams.out_color ? Colour::on : Colour::off);
  }
}

}  // namespace

Result<const SecretSource*> CheckSession::secrets() {
  if (!made_secrets) {
    GUARD_TRY_ASSIGN(made_secrets, secrets_of(environment, loaded.config));
  }
  return &*made_secrets;
}

Result<GateRequest> prepare_check(
    const ConfigSources& sources, const std::string& rules, CommandContext& context, CheckSession& session) {
  context.timeline.begin("configuration");
  GUARD_TRY_ASSIGN(session.loaded, load_config(sources, ConfigEntries::leave_out));
  const Config& config = session.loaded.config;
  context.timeline.begin("rules");
  GUARD_TRY_ASSIGN(session.engine, load_rule_engine(rules));
  const bool found_above = sources.file.empty() && session.loaded.file.has_parent_path();
  session.project = found_above ? session.loaded.file.parent_path().string() : sources.search_from.string();
  session.environment = context.environment;
  // Whatever can be wrong with them is said whether there are findings or not.
  if (!config.redact.mask_file.empty() || !config.redact.kinds_off.empty()) GUARD_TRY(session.secrets());

  GateRequest request;
  request.rules = session.engine.rules;
  request.matcher = &*session.engine.matcher;
  request.config = &config;
  request.seen_from = session.project;
  request.secrets = [&session] { return session.secrets(); };
  request.engine = [&session, &context]() -> const EngineLocation& {
    if (!session.located) session.located = locate_engine(session.loaded.config, context.environment, context.cancel);
    return *session.located;
  };
  return request;
}

CollectOptions collect_options(const Config& config) {
  CollectOptions collect;
  collect.file_bytes_max = config.check.max_file_bytes;
  collect.gated_paths = config.check.paths;
  return collect;
}

Result<CheckRecord> masked_check(Result<CheckRecord> record, CheckSession& session) {
  if (!record) return masked(record.error());
  // An allowed change without findings and waivers holds no word that is not guard's own.
  const bool only_ours = record->verdict.kind() == VerdictKind::allowed && !record->error &&
      record->report.findings.empty() && record->waived.empty() && record->waivers.empty() &&
      record->idle_waivers.empty() && record->names.empty();
  if (only_ours) return record;
  auto made = session.secrets();
  if (!made) return masked(made.error());
  mask_record(**made, *record);
  return record;
}

Result<int> finish_check(const Result<CheckRecord>& record, OutputFormat format, const std::string& mode,
    const CheckSession& session, CommandContext& context) {
  context.timeline.begin("report");
  if (record) {
    context.streams.out.write(report_of(*record, format, session, context.streams));
    return record->verdict.exit_status();
  }
  if (format == OutputFormat::text) return record.error();
  CheckRecord failed;
  failed.mode = mode == "auto" ? "host" : mode;
  failed.verdict = verdict_of(record.error());
  failed.error = record.error();
  context.streams.out.write(report_of(failed, format, session, context.streams));
  return failed.verdict.exit_status();
}

}  // namespace guard
