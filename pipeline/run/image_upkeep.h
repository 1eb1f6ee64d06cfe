// Which cached images may go: whose they are, and who still needs them. Decides; runner/image/image.h removes.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/config/config.h"
#include "runner/image/image_cache.h"

namespace guard {

// The digest of the image that a project asks for now. Empty: it is gone, and asks for none; nullopt: it can't be told.
using WantedImage = std::function<std::optional<std::string>(const std::filesystem::path& project)>;
// As its configuration, lockfile and this machine say. Asks once for each project.
WantedImage wanted_image(std::function<ConfigSources(const std::filesystem::path& project)> sources);

struct ImageFate {
  CachedImage image;
  bool goes = false;
  std::string why;  // half a sentence
};

// What `guard image prune` does to the images that `project` has used, or, where it is empty, to those of every
// project: they go unless a project still needs them. An image that is not complete goes: this guard can't run on it.
// Those that `project` has not used are not in the list. Images for sessions stay until they are imported again.
std::vector<ImageFate> fates_of_images(
    std::vector<CachedImage> images, const std::filesystem::path& project, const WantedImage& wanted);

// What goes by itself when another one is built: what nobody has used for so long, needed or not, but for images of
// sessions. `kept`: the digest
// just built.
std::vector<ImageFate> unused_images(std::vector<CachedImage> images, std::string_view kept, std::chrono::days unused,
    std::chrono::system_clock::time_point now);

}  // namespace guard
