// Lets findings pass that the trusted configuration names: rule, path, fingerprint, reason, last day. Whatever becomes
// of a waiver is told: those used, those that ran out, those that found nothing to do. ALWAYS_BLOCK, banned patterns,
// encodings and what a change may not touch cannot be waived.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/config/config.h"
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
std::string_view to_string(IdleWaiver::Why why) noexcept;

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

// Weighs the waivers of one check, whose findings may come in several reports, file by file. A waiver's path is a glob,
// seen from the project or any folder above the file; its fingerprint is the finding's, or the SHA-256 of the file.
class WaiverDesk {
 public:
  // `today` is "YYYY-MM-DD". `waivers` must outlive this.
  WaiverDesk(const std::vector<Waiver>& waivers, std::string_view today);

  // Moves waived findings out of `report`, whose findings are marked (finding_marks.h). `files` are those that they
  // stand in.
  void apply(const std::vector<SourceFile>& files, Report& report);
  // A file of the check that nothing is found in.
  void saw(std::string_view path);
  // Call once, last.
  WaiverOutcome finish();

 private:
  struct Tally {
    std::vector<std::string> globs;
    bool expired = false;
    bool saw_file = false;
    std::size_t named = 0;      // findings of this rule in these files
    std::size_t forbidden = 0;  // of them, those of a tier that has no exceptions
    std::size_t same = 0;       // of them, those that carry the fingerprint
    std::size_t waived = 0;
  };
  const std::vector<Waiver>& waivers_;
  std::vector<Tally> tallies_;
  WaiverOutcome outcome_;
};

// The same for one report.
WaiverOutcome apply_waivers(
    const std::vector<Waiver>& waivers, const std::vector<SourceFile>& files, std::string_view today, Report& report);

// A [[check.waivers]] table for each finding of `report` that can be waived, to be pasted into guard.toml once somebody
// has written down why; it runs out kWaiverTemplateDays after `today`. What cannot be waived is a comment. Paths are
// made relative to `project`.
std::string waiver_template(const Report& report, std::string_view project, std::string_view today);
constexpr int kWaiverTemplateDays = 90;

std::string today_utc();

}  // namespace guard
