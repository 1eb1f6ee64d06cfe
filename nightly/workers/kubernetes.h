// Kubernetes objects for workers and sessions, as documents for `kubectl apply -f -`. Pure: no cluster is asked, and
// whatever runs there is its scheduler's business.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "nightly/plan/plan.h"

namespace guard::nightly {

// A v1 List: a claim on the volume that holds the task folders, a ConfigMap with the script of the workers, and an
// indexed Job whose pods make `folders`, `batch` each. Results come to their folders. The same folders give the same
// names, so that nothing is made twice by applying it twice. `user` owns the folders, and is who the pods run as; the
// images of sandboxes are found in kubernetes_cache(), and executed: it must be that user's alone. CONFIG_INVALID where
// the plan names no image, volume or shared folder, and for root.
Result<std::string> kubernetes_job(
    const ExecutorPlan& plan, const std::vector<std::filesystem::path>& folders, uid_t user);

std::filesystem::path kubernetes_cache(const ExecutorPlan& plan);

// A v1 List for the controller of kubernetes-sigs/agent-sandbox (extensions.agents.x-k8s.io/v1beta1): pods that run
// `guard serve`, some of them kept warm, and a claim on one. CONFIG_INVALID where the plan names no image.
Result<std::string> kubernetes_sessions(const ExecutorPlan& plan);

}  // namespace guard::nightly
