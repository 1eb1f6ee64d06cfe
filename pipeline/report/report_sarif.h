// Findings as a SARIF 2.1.0 document (OASIS standard), which code scanning services and editors read. One run, one line
// end.
//
// Columns count characters. Paths are relative to %SRCROOT% unless they were given as absolute. An undecided or
// unavailable verdict is an invocation without success: a viewer that sees no results must not take that for a clean
// file.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/run_record.h"
#include "rules/rule_set.h"

namespace guard {

struct SarifOptions {
  const RuleSet& rules;       // texts of rules
  std::string_view version;   // guard's own
  std::string_view docs_url;  // of the page that rule_page.h writes; empty: no helpUri, which has to be absolute
};

std::string check_sarif(const CheckRecord& record, const SarifOptions& options);
std::string run_sarif(const RunRecord& record, const SarifOptions& options);

}  // namespace guard
