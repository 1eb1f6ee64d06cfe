// Images for sessions, made of what a person has: a folder, an archive, or an image of the container engine. One root
// folder in the image cache (runner/image/image_cache.h) serves both backends; the record beside it says what it was
// made of.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "docker/endpoint.h"
#include "runner/files/tree_unpacker.h"
#include "runner/image/engine_image.h"
#include "runner/image/image.h"

namespace guard {

inline constexpr std::string_view kFromEngine = "docker://";

struct ImportRequest {
  std::string name = {};  // [a-z0-9][a-z0-9._-]*, at most 64 bytes
  // A folder or a tar archive, plain, gzip or zstd: an OCI layout, what `docker save` writes, or else a root file
  // system. Or kFromEngine and the reference of an image that `engine` has.
  std::string from = {};
  docker::Endpoint engine = {};       // where `from` names it
  PullImage pull = PullImage::never;  // runner/image/engine_image.h, also for the next one
  Environment environment = {};
  TreeLimits limits = {};   // of all layers together
  std::string source = {};  // what the record says instead of `from`; empty: that
  std::vector<std::pair<std::filesystem::path, std::string>> programs =
      {};                                 // copied in: a file of this machine, its path
  std::vector<std::string> without = {};  // taken out: paths in the image
};

// INPUT_INVALID unless it is one.
Result<void> check_image_name(std::string_view name);

// Unpacks it and puts it into the cache; an older image of that name is removed, or, while sessions use it, left to a
// later prune. What was killed half way is no image, and is removed by the next build, import or prune.
//
// INPUT_INVALID (runner/import/foreign_image.h, runner/files/tree_unpacker.h), FILE_TOO_LARGE, FILE_NOT_FOUND;
// those of find_or_pull_image(); CANCELLED.
Result<ImagePlan> import_image(const ImportRequest& request, const CancelToken& cancel, const ImageProgress& progress);

// The image that was last imported under this name, for `project`. IMAGE_MISSING.
Result<ImagePlan> find_imported(std::string_view name, const std::filesystem::path& project);

}  // namespace guard
