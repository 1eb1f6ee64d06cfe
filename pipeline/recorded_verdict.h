// The judge of pipeline/verdict.h for what an evidence record says of a run: bun's report was read when it was judged.
#pragma once

#include <optional>

#include "pipeline/verdict.h"

namespace guard {

// `evidence` without a report in `exec`; `tests`: what the report said, or nothing.
RunJudgement judge_recorded_run(const RunObservations& evidence, std::optional<TestSummary> tests);

}  // namespace guard
