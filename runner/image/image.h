// Builds what tests run on, from the host's bun and C library, without any image registry: one content digest, two
// outputs. A root folder for the embedded sandbox, kept in the cache; and an image for an engine (FROM scratch,
// non-root).
//
// The digest is SHA-256 over: lockfile, package.json of all workspaces, patches, bun's SHA-256 (which fixes its
// version), the C library files, the tools and their libraries, the attestation script, the builder's version. The same
// inputs give the same digest, so a stale image is never mistaken for a fresh one. Which further libraries the packages
// need is known only after the install: they are taken as the machine has them then, and stay so until the image is
// built again; the record names them with their SHA-256.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "common/unique_fd.h"
#include "docker/endpoint.h"
#include "runner/image/bun_binary.h"  // find_bun()
#include "runner/image/image_cache.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

// execute_only: nobody may read bun's program file, so the kernel makes a process of it whose memory nobody can open.
// gVisor's kernel can't execute such a file.
enum class ProgramAccess : std::uint8_t { execute_only, readable };

struct ImageInputs {
  std::filesystem::path project;  // holds package.json and, with dependencies, a lockfile
  std::filesystem::path bun;      // the bun binary, or what leads to it (see resolve_bun)
  std::string name = "jarvis-test-runner";
  ProgramAccess bun_access = ProgramAccess::execute_only;
  std::vector<std::string> tools = {};  // runner/image/image_tools.h
};

// Of the record only `digest` and `bun_version` are known before it is built; `image_id` is what an engine shows for
// it.
struct ImagePlan : ImageRecord {
  std::filesystem::path project;
  std::string reference;  // name:first 16 hex digits
  std::string bun_sha256;
  std::filesystem::path root_folder;  // <cache>/images/<digest>/root
  bool built = false;                 // root folder is there and complete
};

// Reads the inputs, installs nothing. DEPENDENCY_UNSATISFIED where package.json names dependencies and no lockfile
// holds them, or where they are not from a registry.
Result<ImagePlan> plan_image(const ImageInputs& inputs);

// The plan that a record in the cache is, for `project`.
ImagePlan plan_of(const ImageRecord& record, const ImageCache& cache, const std::filesystem::path& project);

// The command that makes such an image again: `guard image build`, or how it was imported.
std::string made_by(const ImageRecord& record);

// What to run on, for a plan that is built; IMAGE_MISSING for one that is not.
Result<RuntimeImage> runtime_image(const ImagePlan& plan);

// Keeps a built image from being removed for as long as the descriptor lives, and notes that its project uses it. A run
// takes one. IMAGE_MISSING.
Result<UniqueFd> hold_image(const ImagePlan& plan);

// Called with one line per step, for progress. May be empty.
using ImageProgress = std::function<void(std::string_view)>;

// Makes the root folder (a no-op when plan.built). Dependencies are installed from the frozen lockfile, without
// scripts, in a private folder, and taken only if no link leads out of it. Built aside and renamed into place: half an
// image is never seen. A lockfile that does not match package.json: DEPENDENCY_UNSATISFIED with bun's words.
Result<RuntimeImage> build_root_folder(
    const ImageInputs& inputs, const CancelToken& cancel, const ImageProgress& progress);

// Loads the root folder as an image into the engine at `endpoint` (POST /images/load) and tags it; a no-op when the
// engine has it. Returns reference and id. IMAGE_MISSING when plan is not built; IMAGE_BUILD_FAILED when the engine
// then shows something else under the reference.
Result<RuntimeImage> load_into_engine(
    const ImagePlan& plan, const docker::Endpoint& endpoint, const CancelToken& cancel, const ImageProgress& progress);

// What is cached under `digest` now: all of its root folder is read.
struct CachedContents {
  std::string layer_sha256;            // as ImagePlan's, were it built from what lies there now
  std::vector<std::string> image_ids;  // that an engine may show for such an image
};
// FILE_NOT_FOUND when no complete image with this digest is cached.
Result<CachedContents> read_cached_image(std::string_view digest, const CancelToken& cancel);

Result<std::vector<CachedImage>> list_cached_images(ImageSizes sizes = ImageSizes::counted);

// Removes those of `images` that are not in use, and what killed builders have left. Returns what was removed. Waits
// for a build that is under way.
Result<std::vector<CachedImage>> remove_cached_images(std::vector<CachedImage> images, const CancelToken& cancel);
// What killed builders have left, without removing it.
Result<std::vector<CachedImage>> list_unfinished_images();
// Removes what guard has loaded into an engine of an image that is gone here. No error where there is nothing.
Result<void> remove_from_engine(
    std::string_view digest, std::string_view name, const docker::Endpoint& endpoint, const CancelToken& cancel);

}  // namespace guard
