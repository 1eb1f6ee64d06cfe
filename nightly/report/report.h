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

// What `guard nightly review` shows of one task, so that a person can take it, drop it or send it back: what was asked
// for, what came of it, and the change. `attempts`: of this task, by number. Masked once more and made harmless; the
// diff is that of the last attempt that has one.
std::string review_text(
    const Task& task, const std::vector<Attempt>& attempts, const SecretSource& secrets, Colour colour);

// One line per task, for choosing: "add-negative  accepted  3 passed, 5 of 6 broken versions noticed".
std::string review_list(
    const std::vector<Task>& tasks, const std::vector<Attempt>& attempts, const SecretSource& secrets, Colour colour);

// One line, for the subject of a mail: "guard: 31 of 40 accepted, 7 refused, 2 failed in 6 h 12 min (finished)".
std::string summary_line(const ReportInput& input);

}  // namespace guard::nightly
