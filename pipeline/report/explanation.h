// `guard check --explain`: how guard reads a line, and of every rule why it did or did not fire there. Waivers are
// weighed as the gate weighs them, and every text is masked before it is shown.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/gate/gate.h"
#include "pipeline/report/reports.h"
#include "validator/judge/explain.h"

namespace guard {

struct ExplainedLine {
  Explanation explanation;  // masked
  std::string mode;
};

// `path` names one of `files`, however it was spelled. FILE_NOT_FOUND where it is none of them, INPUT_INVALID where it
// has no such line.
Result<ExplainedLine> explain_line(const GateRequest& request, const SourceFiles& files, std::string_view path,
    std::uint32_t line, std::string_view mode);

std::string explanation_text(const ExplainedLine& explained, Colour colour);
std::string explanation_document(const ExplainedLine& explained);

}  // namespace guard
