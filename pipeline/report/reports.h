// The forms in which a check or a run is reported. What foreign text they hold was masked before, and each makes it
// harmless for its own readers.
#pragma once

#include <string>
#include <string_view>

#include "common/text/paint.h"
#include "pipeline/run_record.h"
#include "rules/rule_set.h"

namespace guard {

// For people: findings with place, excerpt, caret and what to write instead; the verdict with what to do next. Colour
// only when asked for.
std::string check_text(const CheckRecord& record, Colour colour);
std::string run_text(const RunRecord& record, Colour colour);

// For machines (schema: docs/documents.md). Versioned, only ever extended. One JSON object, one line end.
std::string check_document(const CheckRecord& record);
std::string run_document(const RunRecord& record);

// JUnit XML, which every CI server shows. One test suite per file, one failed case per finding, one passed case for a
// clean file (CheckRecord::names), one skipped case per waived finding. The last suite, "verdict", holds what is not
// about a file: an undecided or unavailable verdict is an error there.
std::string check_junit(const CheckRecord& record);
std::string run_junit(const RunRecord& record);

// Workflow commands of GitHub Actions: annotations at the lines of a change. One command per line and nothing else.
//
// The runner takes every line of output that begins with `::` for a command, so nothing foreign may begin a line:
// whatever could is escaped. What a program prints has been through TerminalSafety, which disarms commands.
std::string check_annotations(const CheckRecord& record);
std::string run_annotations(const RunRecord& record);

// SARIF 2.1.0 (OASIS standard), which code scanning services and editors read. One run, one line end.
//
// Columns count characters. Paths are relative to %SRCROOT% unless they were given as absolute. An undecided or
// unavailable verdict is an invocation without success: a viewer that sees no results must not take that for a clean
// file.
struct SarifOptions {
  const RuleSet& rules;       // texts of rules
  std::string_view version;   // guard's own
  std::string_view docs_url;  // of the page that rule_page.h writes; empty: no helpUri, which has to be absolute
};
std::string check_sarif(const CheckRecord& record, const SarifOptions& options);
std::string run_sarif(const RunRecord& record, const SarifOptions& options);

}  // namespace guard
