// The page for the morning: what was accepted and with which diff, what was refused and why, what failed, how the night
// went, and how it compares with those before.
//
// Pure: values in, text out. Everything that comes out of a night is hostile text: it is masked (again) and escaped
// here.
#pragma once

#include <string>
#include <vector>

#include "common/text/paint.h"
#include "nightly/loop/journal.h"
#include "nightly/loop/night_values.h"
#include "redact/kinds/secret_source.h"

namespace guard::nightly {

struct ReportInput {
  Night night;
  std::vector<Task> tasks;
  std::vector<Attempt> attempts;
  std::vector<Journal::RuleCount> rules;
  std::vector<Journal::NightSums> trend;  // the newest first
  std::vector<Journal::Flake> flakes;
  std::string state_folder;  // what files in Attempt are seen from
  std::int64_t now_ms = 0;
};

// Reads all of it. FILE_NOT_FOUND for a night that is not in the journal; `night` empty: the newest.
Result<ReportInput> report_input(const Journal& journal, const std::string& night);

enum class ReportFormat : std::uint8_t { text, markdown, html, json };

// `colour`: of text alone.
Result<std::string> render_report(
    const ReportInput& input, ReportFormat format, const SecretSource& secrets, Colour colour);

// One line, for the subject of a mail: "guard: 31 of 40 accepted, 7 refused, 2 failed in 6 h 12 min (finished)".
std::string summary_line(const ReportInput& input);

}  // namespace guard::nightly
