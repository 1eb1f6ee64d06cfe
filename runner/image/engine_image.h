// An image of the configuration in the container engine: found there, or, where the configuration lets guard, pulled.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/cancel.h"
#include "common/environment.h"
#include "common/result.h"
#include "common/time.h"
#include "docker/endpoint.h"

namespace guard {

enum class PullImage : std::uint8_t { never, if_missing };

struct EngineImageRequest {
  docker::Endpoint engine;
  std::string reference;  // as configured
  PullImage pull = PullImage::never;
  // DOCKER_CONFIG or HOME say where docker's config.json lies, with the credentials of `docker login`. The programs
  // that it may name to keep them are not run.
  Environment environment;
  // Called now and then while it is pulled, with a sentence for people.
  std::function<void(std::string_view sentence)> progress;
  // An image of some gigabytes over a slow line; beyond that somebody should look.
  milliseconds pull_limit{std::chrono::minutes(15)};
};

struct EngineImage {
  std::string id;  // what the reference means in the engine now
  bool pulled = false;
};

// IMAGE_MISSING where it is not there and may not be pulled; IMAGE_PULL_FAILED with `image` and `stderr` (the engine's
// words, bounded and printable) where it could not be, also for a reference without tag and digest: nobody said which
// image is meant. A digest in the reference must be the digest of what was pulled. CANCELLED.
Result<EngineImage> find_or_pull_image(const EngineImageRequest& request, const CancelToken& cancel);

}  // namespace guard
