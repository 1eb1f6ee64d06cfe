#include "pipeline/evidence/evidence_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pipeline/evidence/evidence_record.h"

namespace guard {
namespace {

EvidenceCheck check_digest(std::string_view bytes) {
  EvidenceCheck check{"digest", CheckState::ok, "no byte was changed since it was written", {}, ""};
  const auto written = written_digest(bytes);
  if (written && *written == document_digest(bytes)) return check;
  check.state = CheckState::differs;
  check.sentence = written ? "the record was changed after it was written" : "the record does not end with its digest";
  check.next = "do not rely on it: get the record from where it was kept first, or run the tests again";
  return check;
}

EvidenceCheck check_shape(const nlohmann::json& document) {
  EvidenceCheck check{"shape", CheckState::ok, "every field is there and of its type", shape_faults(document), ""};
  if (check.details.empty()) return check;
  check.state = CheckState::differs;
  check.sentence = "this is not what guard writes; nothing else was checked";
  check.next = "name a file that `guard run --record` has written";
  return check;
}

}  // namespace

CheckState EvidenceVerification::state() const noexcept {
  const auto any = [&](CheckState state) {
    return std::any_of(checks.begin(), checks.end(), [&](const EvidenceCheck& check) { return check.state == state; });
  };
  if (any(CheckState::differs)) return CheckState::differs;
  return any(CheckState::unknown) || checks.empty() ? CheckState::unknown : CheckState::ok;
}

Result<EvidenceVerification> verify_evidence(
    std::string_view bytes, const EvidencePresent& present, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const nlohmann::json document, parse_evidence(bytes));
  EvidenceVerification verification;
  verification.checks.push_back(check_digest(bytes));
  verification.checks.push_back(check_shape(document));
  if (verification.checks.back().state != CheckState::ok) return verification;
  const EvidenceRecord record = read_evidence(document);
  verification.run_id = record.run.facts->run_id;
  verification.started = record.started;
  verification.backend = record.run.backend;
  verification.verdict = record.verdict;
  verification.reason = record.reason;
  for (auto& check : check_consistency(record)) verification.checks.push_back(std::move(check));
  for (auto& check : compare_with_present(record, present, cancel)) verification.checks.push_back(std::move(check));
  if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped while checking an evidence record");
  return verification;
}

}  // namespace guard
