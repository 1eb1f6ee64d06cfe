// What it takes to have the sandbox of a recorded run once more (guard shell --record). The record decides nothing: it
// is compared with what a run would use now, and what differs is a refusal.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "pipeline/config/config.h"
#include "pipeline/evidence/evidence_check.h"
#include "pipeline/run/suite_run.h"

namespace guard {

struct RecordedRun {
  RecordedSandbox sandbox;
  Backend backend = Backend::docker;
  std::vector<std::string> files;  // that were asked for
  std::map<std::string, std::string> config;
};

// INPUT_INVALID where the record was changed, or files, guard.toml, image or bun are not those of then, with all that
// differs; where nothing was staged, so that there was no sandbox; where folders of the project were shared with it.
Result<RecordedRun> recorded_run(std::string_view bytes, const EvidencePresent& present, const CancelToken& cancel);

// Whether these settings make the same sandbox: limits, image, which files. Values of [run.env] are hidden in a record,
// so only their names are compared. INPUT_INVALID with the keys that differ.
Result<void> makes_the_same_sandbox(const RecordedRun& run, const std::vector<ConfigEntry>& now);

}  // namespace guard
