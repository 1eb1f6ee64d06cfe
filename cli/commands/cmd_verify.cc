// `guard verify`: whether an evidence record can still be believed.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/rule_engine.h"
#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/evidence/evidence_check.h"
#include "pipeline/evidence/evidence_record.h"
#include "pipeline/report/json_parts.h"

namespace guard {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kDetailsShown = 20;

// By CheckState, whose number is the exit status, too.
struct StateWords {
  std::string_view result;
  std::string_view label;
  std::string_view conclusion;
};
constexpr StateWords kStates[] = {
    {"holds", "ok", "holds: everything in the record is as it was"},
    {"differs", "differs", "differs: the record was changed, or does not speak of what is there now"},
    {"undecided", "cannot be checked", "undecided: not everything could be checked"},
};
const StateWords& words_of(CheckState state) { return kStates[static_cast<std::size_t>(state)]; }

Result<EvidenceVerification> verify(const Options& options, CommandContext& context) {
  EvidencePresent present;
  GUARD_TRY_ASSIGN(present.project, project_folder(options.project));
  present.config_file = options.config;
  present.guard_version = GUARD_VERSION;
  GUARD_TRY_ASSIGN(const std::string record, read_file(options.arguments[0], kEvidenceBytesMax));
  present.rules_named = !options.rules.empty();
  if (present.rules_named) {
    GUARD_TRY_ASSIGN(const RuleEngine engine, load_rule_engine(options.rules));
    present.rules_digest = engine.rules->digest();
  } else {
    present.rules_digest = RuleSet::shipped_gate().digest();
  }
  return verify_evidence(record, present, context.cancel);
}

Json check_json(const EvidenceCheck& check) {
  Json json = {{"name", check.name}, {"state", to_string(check.state)}, {"message", clean(check.sentence)},
      {"details", Json::array()}};
  for (const auto& detail : check.details) json["details"].push_back(clean(detail));
  if (!check.next.empty()) json["next"] = clean(check.next);
  return json;
}

Json document_head(const Options& options, CheckState state) {
  return {{"version", 1}, {"record", clean(options.arguments[0])}, {"result", words_of(state).result}};
}

std::string document(const Options& options, const EvidenceVerification& verification) {
  Json json = document_head(options, verification.state());
  json["run"] = {{"run_id", verification.run_id}, {"started", verification.started}, {"backend", verification.backend},
      {"verdict", verification.verdict}, {"reason", verification.reason}};
  json["checks"] = Json::array();
  for (const auto& check : verification.checks) json["checks"].push_back(check_json(check));
  return dump(json);
}

std::string document(const Options& options, const Error& error) {
  Json json = document_head(options, CheckState::unknown);
  json["checks"] = Json::array();
  json["error"] = error_json(error);
  return dump(json);
}

void print_check(OutStream& out, const EvidenceCheck& check) {
  out.print("{:<17}  {}: {}\n", words_of(check.state).label, check.name, printable(check.sentence));
  for (std::size_t i = 0; i < check.details.size() && i < kDetailsShown; ++i)
    out.print("{:<17}    {}\n", "", printable(check.details[i]));
  if (check.details.size() > kDetailsShown)
    out.print("{:<17}    and {} more\n", "", check.details.size() - kDetailsShown);
  if (!check.next.empty()) out.print("{:<17}    next: {}\n", "", printable(check.next));
}

void print_text(OutStream& out, const EvidenceVerification& verification) {
  if (!verification.verdict.empty()) {
    out.print("The record says: {} ({}), run {} of {}\n\n", printable(verification.verdict),
        printable(verification.reason), printable(verification.run_id), verification.started);
  }
  for (const auto& check : verification.checks) print_check(out, check);
  out.print("\n{}\n", words_of(verification.state()).conclusion);
}

}  // namespace

Result<int> cmd_verify(const Options& options, CommandContext& context) {
  OutStream& out = context.streams.out;
  const bool json = options.format == OutputFormat::json;
  const auto verification = verify(options, context);
  if (!verification) {
    if (json) out.write(document(options, masked(verification.error())));
    return verification.error();
  }
  if (json) {
    out.write(document(options, *verification));
  } else {
    print_text(out, *verification);
  }
  return static_cast<int>(verification->state());
}

}  // namespace guard
