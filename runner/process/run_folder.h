// A run's private folder: <cache>/runs/<run id>/, where what was checked is staged and from where it is mounted. A lock
// on its `owner` file is held as long as the run lives; whoever can take the lock of a folder knows that its owner is
// dead and may remove it. So a killed guard leaves nothing behind for longer than until the next start.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/own_entry.h"
#include "common/result.h"
#include "common/unique_fd.h"

namespace guard {

// "r" and twenty random hex digits.
Result<std::string> new_run_id();

// Whether a text could be such an id: 1 to 64 of [a-z0-9-].
bool is_run_id(std::string_view text);

class RunFolder {
 public:
  static Result<RunFolder> create();
  static Result<RunFolder> create(const std::string& id);  // a new_run_id() that the caller has written down before
  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;
  ~RunFolder();  // removes the folder

  const std::string& run_id() const noexcept { return run_id_; }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  RunFolder() = default;
  static Result<RunFolder> create_once(const std::string& id);
  std::string run_id_;
  std::filesystem::path path_;
  UniqueFd lock_;
};

// Removes the processes, cgroups or containers that carry the id of a dead run; called before its folder goes.
using RemoveLeftoverOfRun = std::function<Result<void>(const std::string& run_id)>;

// False where its owner is alive: nothing is done then.
Result<bool> remove_dead_run(const std::string& run_id, const RemoveLeftoverOfRun& remove_leftover);

// The same for all runs whose owner is dead. Returns the ids that were cleaned. Errors are listed, none stops the
// sweep.
struct SweepResult {
  std::vector<std::string> removed;
  std::vector<std::string> failed;  // sentences
};
SweepResult sweep_dead_runs(const RemoveLeftoverOfRun& remove_leftover, SweepMode mode = SweepMode::remove);

// True if the run with this id, started from this cache folder, is alive.
bool run_is_alive(const std::string& run_id);

}  // namespace guard
