#include "runner/sandbox/namespace_sweep.h"

#include "runner/sandbox/cgroup.h"

namespace guard {

Result<void> namespace_sweep(const std::string& run_id) { return remove_cgroups_of(run_id, cgroup_places_here()); }

}  // namespace guard
