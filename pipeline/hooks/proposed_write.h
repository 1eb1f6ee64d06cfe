// What a file will be once a coding agent has written it, and what kind of file it is: seen by its name as given and by
// the place that its links lead to, since either may be the one that matters.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "pipeline/hooks/agent_event.h"
#include "validator/finding.h"

namespace guard {

struct ProposedWrite {
  std::string path;    // as seen from the repository's root; absolute where it lies outside
  std::string before;  // empty where there is no file yet
  std::string after;
  bool gated = false;             // under [check] paths
  std::vector<Finding> findings;  // it would change what guard is told, or whether it is asked
};

// `event` is a write or an edit; relative paths start in its folder, else in `root`. INPUT_INVALID, IO_ERROR,
// FILE_TOO_LARGE.
Result<ProposedWrite> proposed_write(
    const AgentEvent& event, const std::filesystem::path& root, const std::vector<std::string>& gated_paths);

}  // namespace guard
