// Containers, and images of single runs, that a killed guard left behind, found by label. A container ends by itself
// when its guard dies (its life line closes), but somebody still has to remove it.
#pragma once

#include <string>

#include "common/cancel.h"
#include "common/result.h"
#include "docker/endpoint.h"
#include "runner/process/run_folder.h"

namespace guard {

// What guard writes onto its containers.
namespace docker_label {
inline constexpr const char* kRun = "guard.run";            // run id
inline constexpr const char* kCache = "guard.cache";        // which cache folder the run belongs to
inline constexpr const char* kDeadline = "guard.deadline";  // seconds since 1970 by which the run must be over
}  // namespace docker_label

// The name of a run's container, and of its image where it has one of its own.
std::string docker_container_name(const std::string& run_id);
std::string docker_image_name(const std::string& run_id);

// A short stable name for our cache folder. Guards with other cache folders (other users, other machines on one engine)
// know which of their runs are alive and we do not, so their containers are not ours to remove.
Result<std::string> docker_cache_label();

// Removes the containers, and then the images of single runs, of this cache folder whose run is dead, or should have
// been over a day ago. `removed` holds run ids. An Error only when the engine could not be asked.
Result<SweepResult> docker_sweep(
    const docker::Endpoint& endpoint, const CancelToken& cancel, SweepMode mode = SweepMode::remove);

}  // namespace guard
