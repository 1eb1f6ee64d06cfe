// Where the nightly loop keeps what has to survive: one folder per repository, outside of it, for its owner alone.
//
//   journal.sqlite   what happened (journal.h)
//   lock             held by the loop (flock): whoever can take it knows that no loop lives
//   heartbeat        touched at each step
//   clones/<night>/<task>-<attempt>/    gone when the attempt is over, unless they are to be kept
//   evidence/<night>/, outputs/<night>/, kept/<night>/
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "common/environment.h"
#include "common/result.h"
#include "common/unique_fd.h"
#include "nightly/loop/night_values.h"

namespace guard::nightly {

class StateFolder {
 public:
  // `named` (--state), else below $GUARD_STATE_DIR, else /var/lib/guard for root, else $XDG_STATE_HOME/guard, else
  // ~/.local/state/guard: nightly/<name of the repository>-<12 hex digits of its path>. Nothing is made here.
  // INPUT_INVALID for a place in the repository: its clean-up, or a generator that is pointed at it, would take the
  // journal along.
  static Result<StateFolder> of(
      const std::filesystem::path& top, const std::string& named, const Environment& environment);

  // Makes what is missing, mode 0700. IO_ERROR; INPUT_INVALID for a folder of somebody else's.
  Result<void> make() const;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path journal() const { return path_ / "journal.sqlite"; }
  std::filesystem::path clones() const { return path_ / "clones"; }

  void beat() const noexcept;  // touches the heartbeat; what can't be touched shows in `guard nightly status --max-age`

 private:
  explicit StateFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// Free on the disk of `folder`, for this user; 0 where that can't be told.
std::uint64_t free_bytes(const std::filesystem::path& folder) noexcept;

// One loop per repository, wherever its state is kept and from whichever of its work trees it was started: a lock in
// the state folder and one beside the repository's objects. The kernel lets go of the lock with its process, however
// that ends, so that a stale one cannot be.
class NightLock {
 public:
  // `common`: the git folder that all work trees share. INPUT_INVALID where another process holds it; it is named.
  static Result<NightLock> take(const StateFolder& state, const std::filesystem::path& common);

  // Writes down which night its holder works on, for those who want to stop it.
  Result<void> name(const std::string& night) const;

  struct Holder {
    pid_t process = 0;  // as it wrote it
    std::string night;  // empty: it has not begun one yet
  };
  // Who holds the lock of this state folder now.
  static Result<std::optional<Holder>> holder(const StateFolder& state);

 private:
  NightLock(UniqueFd file, UniqueFd shared) : file_(std::move(file)), shared_(std::move(shared)) {}
  UniqueFd file_;
  UniqueFd shared_;
};

// The state of a night as its reader has to see it: one that says it is running while another night, or nobody, holds
// the lock was killed.
NightState observed_state(const Night& night, const std::optional<NightLock::Holder>& holder) noexcept;

}  // namespace guard::nightly
