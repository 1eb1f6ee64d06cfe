// Lets findings pass that the trusted configuration names: rule, path, fingerprint, reason, last day. Whatever becomes
// of a waiver is told: those used, those that ran out, those that found nothing to do. ALWAYS_BLOCK, banned patterns,
// encodings and what a change may not touch cannot be waived.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/config/config.h"
#include "pipeline/gate/source_files.h"
#include "validator/validator.h"

namespace guard {

struct UsedWaiver {
  Waiver waiver;
  std::size_t findings = 0;
};

// For the record: "waiver: RULE in PATH, REASON".
std::string waiver_text(const UsedWaiver& used);

// A waiver that let nothing pass.
struct IdleWaiver {
  enum class Why : std::uint8_t { expired, not_waivable, no_file, no_finding, changed };
  Waiver waiver;
  Why why = Why::no_file;
  std::string sentence;
};
template <>
inline constexpr std::array<std::string_view, 5> kNamesOf<IdleWaiver::Why> = {
    "expired", "not_waivable", "no_file", "no_finding", "changed"};

struct WaivedFinding {
  Finding finding;
  Waiver waiver;
};

struct WaiverOutcome {
  std::vector<UsedWaiver> used;
  std::vector<IdleWaiver> idle;
  std::vector<WaivedFinding> waived;
};

// Whether findings of this tier can be waived at all.
bool is_waivable(FindingTier tier) noexcept;

// What a waiver is held against beside the findings.
struct WaivedFiles {
  ProjectPaths paths;
  std::vector<std::string> names;              // of all files of the check
  std::map<std::string, std::string> digests;  // SHA-256 in hex of those that have findings
};

// Moves waived findings out of `findings`, which are marked (finding_marks.h). A waiver's path is a glob, seen from the
// project or any folder above the file; its fingerprint is the finding's, or the SHA-256 of the file. `today` is
// "YYYY-MM-DD".
WaiverOutcome apply_waivers(const std::vector<Waiver>& waivers, const WaivedFiles& files, std::string_view today,
    std::vector<Finding>& findings);

// A [[check.waivers]] table for each finding of `report` that can be waived, to be pasted into guard.toml once somebody
// has written down why; it runs out kWaiverTemplateDays after `today`. What cannot be waived is a comment. Paths are
// seen from the project.
std::string waiver_template(const Report& report, const ProjectPaths& paths, std::string_view today);
constexpr int kWaiverTemplateDays = 90;

std::string today_utc();

}  // namespace guard
