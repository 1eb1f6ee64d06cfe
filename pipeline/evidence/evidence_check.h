// What `guard verify` says of an evidence record: one line per check.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/enum_names.h"
#include "common/result.h"
#include "pipeline/evidence/evidence_record.h"

namespace guard {

enum class CheckState : std::uint8_t { ok, differs, unknown };
template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<CheckState> = {"ok", "differs", "unknown"};

struct EvidenceCheck {
  std::string name;  // "project files"
  CheckState state = CheckState::unknown;
  std::string sentence;
  std::vector<std::string> details;  // the faults, or the files that differ
  std::string next;                  // what to do; empty where it is ok
};

// What the record is compared with. Nothing in the record decides what is read: whoever wrote it may have put any path
// there.
struct EvidencePresent {
  std::filesystem::path project;      // absolute
  std::filesystem::path config_file;  // --config; empty: the guard.toml that a run would find
  std::string rules_digest;           // of the shipped rules, or of --rules
  bool rules_named = false;           // --rules was given
  std::string_view guard_version;
};

struct EvidenceVerification {
  // Of the record; empty where its shape is not known.
  std::string run_id;
  std::string started;
  std::string backend;
  std::string verdict;
  std::string reason;

  std::vector<EvidenceCheck> checks;

  // differs, if any check does; else unknown, if any could not be made; else ok.
  CheckState state() const noexcept;
};

// Whether a record contradicts itself: what somebody who changed one field would have to change, too. What it says of
// the run is given to the judge that gave the verdict (pipeline/verdict.h). Pure.
std::vector<EvidenceCheck> check_consistency(const EvidenceRecord& record);

// Whether what it was made of is still there: the project's files, guard, its rules, the image, bun. Reads files and
// changes nothing; what the run did not come as far as is left out.
std::vector<EvidenceCheck> compare_with_present(
    const EvidenceRecord& record, const EvidencePresent& present, const CancelToken& cancel);

// Whether `bytes` is a record that was not changed since it was written, does not contradict itself, and still fits
// `present`. INPUT_INVALID where it cannot be read as a record (evidence_record.h), CANCELLED.
Result<EvidenceVerification> verify_evidence(
    std::string_view bytes, const EvidencePresent& present, const CancelToken& cancel);

}  // namespace guard
