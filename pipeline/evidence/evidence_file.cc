#include "pipeline/evidence/evidence_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "common/file_io.h"
#include "common/own_entry.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "pipeline/evidence/evidence_record.h"
#include "pipeline/evidence/masked_record.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const EvidencePlace& place) {
  if (place.folder) return place.path;
  return place.path.has_parent_path() ? place.path.parent_path() : fs::path(".");
}

Result<void> refuse_inside_sources(const fs::path& path, const fs::path& project) {
  std::error_code failure;
  const fs::path inside = fs::weakly_canonical(path, failure).lexically_relative(project);
  if (failure) return Error::from_errno(ErrorCode::io_error, printable(path.native()), failure.value());
  if (inside.empty() || (*inside.begin() != "sandbox" && *inside.begin() != "src")) return ok();
  return Error(ErrorCode::input_invalid,
      fmt::format("{} lies in the project's {} folder", printable(path.native()), inside.begin()->native()))
      .hint("keep evidence records elsewhere: the next run would take them for files of the project");
}

Result<EvidencePlace> checked(EvidencePlace place, const fs::path& project) {
  if (!project.empty()) GUARD_TRY(refuse_inside_sources(place.path, project));
  if (place.folder) GUARD_TRY(make_folders(place.path));
  const fs::path folder = folder_of(place);
  (void)sweep_own(folder);
  // By trying: root may write everywhere, also where no file can be made.
  const UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened)
    return Error::from_errno(ErrorCode::io_error, fmt::format("cannot write to {}", printable(folder.native())), errno);
  GUARD_TRY_ASSIGN(const OwnEntry trial,
      make_own_file(opened.get()).context(fmt::format("writing to {}", printable(folder.native()))));
  ::unlinkat(opened.get(), trial.name.c_str(), 0);
  return place;
}

}  // namespace

Result<EvidencePlace> evidence_place(const std::string& named, const fs::path& project) {
  std::error_code failure;
  const fs::file_status status = fs::status(named, failure);
  EvidencePlace place{named, fs::is_directory(status) || named.ends_with('/')};
  if (!place.folder && fs::exists(status) && !fs::is_regular_file(status)) {
    return Error(ErrorCode::input_invalid, fmt::format("{} is a device, FIFO or socket", printable(named)))
        .hint("name a file or a folder");
  }
  return checked(std::move(place), project).context("making a place for the evidence record");
}

Result<EvidencePlace> evidence_folder(const std::string& named, const fs::path& project) {
  return checked({project / named, true}, project).context("making the folder of [run] record");
}

void keep_evidence(const EvidencePlace& place, std::string_view guard_version, int exit_status, RunRecord& record) {
  const auto written =
      write_evidence(place, evidence_file_name(record), evidence_document(record, guard_version, exit_status));
  if (written) {
    record.evidence_file = written->string();
    return;
  }
  const auto secrets = SecretSource::shipped();
  Error error = secrets ? masked_error(*secrets, written.error())
                        : Error(written.error().code(), "the evidence record could not be written");
  (void)std::move(error).context("keeping the evidence record");
  const VerdictKind kind = record.verdict.kind();
  if (kind == VerdictKind::allowed || kind == VerdictKind::rejected) {
    record.verdict = verdict_of(error);  // NOLINT(bugprone-use-after-move): context() gives itself back
    record.error = std::move(error);
  } else {
    record.notes.push_back(
        fmt::format("the evidence record was not kept: {} ({})", error.message(), fmt::join(error.frames(), ", ")));
  }
}

Result<fs::path> write_evidence(const EvidencePlace& place, const std::string& file_name, std::string_view document) {
  const fs::path path = place.folder ? place.path / file_name : place.path;
  GUARD_TRY(write_file_atomically(path, document));
  // The name, too: a record that is gone after a power cut is none.
  const UniqueFd folder(::open(folder_of(place).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) {
    return Error::from_errno(
        ErrorCode::io_error, fmt::format("cannot flush {} to disk", printable(path.native())), errno);
  }
  return path;
}

}  // namespace guard
