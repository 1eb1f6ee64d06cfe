// The gate before a run in a sandbox: what the run names, and what that loads, decides. Any other file that is refused
// is left out of the run, so that it neither runs nor refuses what has nothing to do with it.
//
// A name that is computed stands for all files that it may mean (validator/judge/import_graph.h), and a test has its
// stored snapshot by name. What is read in any other way is not there, and the test that reads it fails.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/gate/gate.h"

namespace guard {

struct RunGate {
  CheckRecord check;              // of the files that are left, as they will be staged
  std::vector<Finding> left_out;  // sorted by path: the first finding of each file that is left out
};

// Takes what is left out away from `files`.
RunGate gate_run(
    const GateRequest& request, SourceFiles& files, const std::vector<std::string>& named, std::string_view mode);

}  // namespace guard
