// Control groups of one run: memory without swap, processes, processor time. Where guard may make them (root; a
// delegated subtree) they are the limits; where it may not, the caller has to watch instead, and say so.
//
// Both hierarchies are known: version 1 with one folder per controller, version 2 with one for all. Linux only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/unique_fd.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

enum class CgroupVersion : std::uint8_t { v1, v2 };

// Folders in which a controller's group may be made, best first; the last one is the root of the hierarchy.
struct CgroupPlace {
  CgroupVersion version = CgroupVersion::v1;
  std::vector<std::filesystem::path> parents;
};

// Pure: controller ("memory", "pids", "cpu") -> place, from the texts of /proc/self/cgroup and /proc/self/mountinfo.
std::map<std::string, CgroupPlace> cgroup_places(std::string_view self_cgroup, std::string_view mountinfo);

// The same for this process; empty when nothing can be read.
std::map<std::string, CgroupPlace> cgroup_places_here();

class RunCgroup {
 public:
  // Makes guard-<run_id> for every controller it can, with the limits set. Fails never: enforced() says what came of
  // it.
  static RunCgroup create(
      const std::string& run_id, const Limits& limits, const std::map<std::string, CgroupPlace>& places);
  RunCgroup(RunCgroup&&) noexcept = default;
  RunCgroup& operator=(RunCgroup&&) = delete;
  ~RunCgroup();  // kills what is inside and removes the groups

  bool holds(std::string_view controller) const { return groups_.find(std::string(controller)) != groups_.end(); }

  // Descriptors of the files into which a child writes "0" to enter; they live as long as this.
  std::vector<int> join_descriptors() const;

  bool killed_for_memory() const;
  bool hit_pids_limit() const;
  std::uint64_t memory_peak_bytes() const;  // 0: not known
  bool limits_swap() const noexcept { return limits_swap_; }

  // What holds memory, swap, pids and cpus, as ExecResult::enforced_by says it.
  void add_enforced(std::map<std::string, std::string>& enforced_by) const;

  void kill_all() const;

 private:
  struct Group {
    CgroupVersion version = CgroupVersion::v1;
    std::filesystem::path path;
    UniqueFd procs;
  };
  RunCgroup() = default;
  std::map<std::string, Group> groups_;  // by controller; those of version 2 share a path
  bool limits_swap_ = false;
};

// Kills all processes in the groups of a dead run, wherever in the hierarchies they are, and removes the groups. No
// error when there are none.
Result<void> remove_cgroups_of(const std::string& run_id, const std::map<std::string, CgroupPlace>& places);

}  // namespace guard
