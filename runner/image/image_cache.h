// Where built images lie: <cache>/images/<digest>/ with `root` (the root folder), `image.json` (written last: without
// it the image is not there), `lock`, on which runs hold a shared lock while they use the image, and `users`: a file
// for each project that has used it, which names the project's folder and is as old as its last use.
//
// One builder at a time holds the lock on <cache>/images/.lock. It works in a folder beside the images that whoever
// comes after its death removes (common/own_entry.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/own_entry.h"
#include "common/result.h"
#include "common/unique_fd.h"

namespace guard {

// What image.json holds.
struct ImageRecord {
  std::string digest;
  std::string image_id;  // "sha256:..." of the configuration
  std::string layer_sha256;
  std::uint64_t layer_bytes = 0;
  std::string bun_version;
  std::vector<std::string> module_folders;  // as RuntimeImage's
  std::vector<std::string> libraries;       // that native packages need besides bun's: "/lib/.../libz.so.1 sha256:..."
  std::vector<std::string> notes;           // what packages need and this machine does not have

  // Of an image for sessions (runner/import/image_import.h); empty for a project's.
  std::string name;
  std::string source;
  std::string imported;             // "2030-01-31T12:00:00.123Z"
  std::string config_sha256;        // hex; empty: it came without a configuration
  std::vector<std::string> layers;  // SHA-256 of what each held, hex
  std::vector<std::string> env;     // "NAME=VALUE", for its programs
};

// Whether `bytes` are counted, for which every file of every image is looked at, or left 0.
enum class ImageSizes : std::uint8_t { counted, left_out };

struct CachedImage {
  std::string digest;
  std::filesystem::path folder;
  std::uint64_t bytes = 0;
  bool complete = false;
  std::vector<std::filesystem::path> projects =
      {};  // that have used it, the last one first, as far as it could be noted
  std::chrono::system_clock::time_point used = {};  // or, where nobody is known to have, built
  std::string name = {};                            // of an image for sessions, as in its record
  std::string source = {};
  std::string imported = {};
};

class ImageCache {
 public:
  // Makes the folder if need be. IO_ERROR when someone else could write to it: what lies there is run.
  static Result<ImageCache> open();

  const std::filesystem::path& folder() const noexcept { return folder_; }
  std::filesystem::path image_folder(std::string_view digest) const { return folder_ / digest; }

  // Empty when there is no complete image with this digest.
  std::optional<ImageRecord> find(std::string_view digest) const;

  // Waits until no other process builds or prunes, at most as long as a build may take. Held as long as the descriptor
  // is.
  Result<UniqueFd> lock_for_building(const CancelToken& cancel, bool& waited) const;

  // Held by a run. IMAGE_MISSING when the image went away. Notes that `project` uses it now, where the cache is ours to
  // write to.
  Result<UniqueFd> hold(std::string_view digest, const std::filesystem::path& project) const;

  // Writes image.json into `built` (a folder with `root` in it), makes all of it durable, and renames it into place.
  Result<void> publish(const std::filesystem::path& built, const ImageRecord& record) const;

  // What killed builders have left.
  std::vector<CachedImage> sweep_leftovers(SweepMode mode) const;

  Result<std::vector<CachedImage>> list(ImageSizes sizes) const;

  // Those of them that are not in use; returns what is gone. The caller holds the building lock.
  Result<std::vector<CachedImage>> remove(std::vector<CachedImage> images) const;

 private:
  // Out of the way under a name of ours, and then away.
  Result<void> set_aside(const std::filesystem::path& place) const;

  explicit ImageCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

}  // namespace guard
