// Where evidence records are kept.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.h"
#include "pipeline/run_record.h"

namespace guard {

struct EvidencePlace {
  std::filesystem::path path;
  bool folder = false;  // a file of its own for each run
};

// `named`: --record as typed; a folder where there is one, or where it ends in a slash (it is made then), else a file.
// `project` may be empty: not known.
//
// To be called before the run: INPUT_INVALID for what is neither file nor folder (a device would be replaced by a file)
// and for a place in the project's src or sandbox, which the next run would take for a file of the project; IO_ERROR
// where it could not be written.
Result<EvidencePlace> evidence_place(const std::string& named, const std::filesystem::path& project);

// `[run] record`: always a folder, seen from the project.
Result<EvidencePlace> evidence_folder(const std::string& named, const std::filesystem::path& project);

// Writes the record of a run that is over and notes where. A verdict without its evidence is none: where it cannot be
// kept, what would have counted (allowed, rejected) is undecided. `record` is masked; `exit_status` is the one that
// guard means to end with.
void keep_evidence(const EvidencePlace& place, std::string_view guard_version, int exit_status, RunRecord& record);

// Whole or not at all, and on the disk when this returns. Answers the file. IO_ERROR.
Result<std::filesystem::path> write_evidence(
    const EvidencePlace& place, const std::string& file_name, std::string_view document);

}  // namespace guard
