// What becomes of the files that a run wrote (runner/init_side/collection.h): which of them come back into the project,
// and why the others do not.
//
// Only a run whose verdict is allowed brings anything back, and only what [run] collect asks for. That is judged once
// more, together with the files that ran and by the same tiers: a finding anywhere makes the verdict rejected, and
// nothing comes back. What is left is written by pipeline/run/write_back.h, which replaces nothing.
#pragma once

#include <string_view>

#include "common/result.h"
#include "pipeline/gate/gate.h"
#include "pipeline/run/write_back.h"
#include "pipeline/run_record.h"
#include "redact/kinds/secret_source.h"

namespace guard {

// What must not come back, whatever is in it: hidden files and folders (settings of editors, agents, git), instructions
// and settings that agents and tools read by themselves, and names that mean something to a shell or something else to
// another file system. `path` is below the folder that tests may write in.
bool is_kept_out(std::string_view path);

struct BringBackRequest {
  CollectPolicy policy = CollectPolicy::none;
  const GateRequest* gate = nullptr;      // as the files that ran were judged
  const SecretSource* secrets = nullptr;  // a file that holds one stays out
  const TargetFolder* target =
      nullptr;  // the project's folder that tests may write in, opened before the run; may be null where policy is none
  std::string folder;     // its name: "sandbox"; empty: the project itself
  std::string_view mode;  // of the gate
};

// Fills record.collected and, where something was judged, record.check and record.verdict; record.verdict is read
// first. `checked`: the files that ran, paths relative to the project. IO_ERROR when the files could not be written:
// nothing has come back then.
Result<void> bring_back(const BringBackRequest& request, SourceFiles checked, Collection written, RunRecord& record);

}  // namespace guard
