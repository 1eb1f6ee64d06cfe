#include "nightly/loop/worker_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/text/text.h"
#include "pipeline/evidence/evidence_check.h"
#include "pipeline/evidence/evidence_record.h"
#include "pipeline/verdict.h"

namespace guard::nightly {

Result<TestSummary> tests_of_worker(std::string_view evidence, const ExpectedRun& expected, const CancelToken& cancel) {
  const auto not_this = [](std::string_view what) {
    return Error(ErrorCode::input_invalid, fmt::format("the record of a worker's run does not stand: {}", what));
  };
  EvidencePresent present;
  present.project = expected.project;
  present.rules_digest = expected.rules_digest;
  present.guard_version = expected.guard_version;
  GUARD_TRY_ASSIGN(const EvidenceVerification verified, verify_evidence(evidence, present, cancel));
  // A night reads guard.toml at its base and no file; all of what is in force is compared below.
  const auto fault = std::find_if(verified.checks.begin(), verified.checks.end(),
      [](const EvidenceCheck& check) { return check.state != CheckState::ok && check.name != "guard.toml"; });
  if (fault != verified.checks.end()) return not_this(fmt::format("{}: {}", fault->name, printable(fault->sentence)));

  GUARD_TRY_ASSIGN(const nlohmann::json document, parse_evidence(evidence));
  const EvidenceRecord record = read_evidence(document);
  if (record.reason != info(Reason::tests_passed).name || !record.run.tests) return not_this("its tests did not pass");
  if (record.run.backend != expected.backend) return not_this("it ran in another kind of sandbox");
  if (record.run.facts->files != expected.files) return not_this("other tests ran");
  std::map<std::string, std::string> settings;
  for (const auto& entry : expected.config) settings[entry.key] = entry.value;
  if (record.config != settings) return not_this("it ran with other settings");
  return *record.run.tests;
}

}  // namespace guard::nightly
