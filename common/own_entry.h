// Things of ours that are there only while we work: a file that is about to get its name, a folder to try something in.
// They lie in places that are not ours alone (/tmp, a project, a folder of records), so each has a name of one form and
// a lock (flock(2)) that its maker holds. Whoever can take the lock knows that the maker is dead, and may remove the
// thing: a guard that was killed leaves nothing behind for longer than until the next one looks there.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/unique_fd.h"

namespace guard {

struct OwnEntry {
  std::string name;  // ".guard-" and sixteen random hex digits
  UniqueFd fd;       // of the file, for writing, or of the folder; holds the lock
};

// Below the folder `parent`. The caller removes it; its name is free again only then.
Result<OwnEntry> make_own_file(int parent);
Result<OwnEntry> make_own_folder(int parent, mode_t mode = 0700);

bool is_own_name(std::string_view name) noexcept;

// Whether a sweep removes what it finds, or only says what it would remove.
enum class SweepMode : std::uint8_t { remove, list };

// Removes what dead makers of this user have left in `folder`. A folder that is not there has nothing in it.
struct OwnSweep {
  std::vector<std::string> removed;  // paths
  std::vector<std::string> failed;   // sentences
};
OwnSweep sweep_own(const std::filesystem::path& folder, SweepMode mode = SweepMode::remove);

}  // namespace guard
