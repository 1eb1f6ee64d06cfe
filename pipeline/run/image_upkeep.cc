#include "pipeline/run/image_upkeep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "common/text/text.h"
#include "pipeline/backend_choice.h"
#include "runner/image/image.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> asks_for(const fs::path& project, const ConfigSources& sources) {
  std::error_code failure;
  if (fs::symlink_status(project, failure).type() == fs::file_type::not_found) return "";
  const auto loaded = load_config(sources);
  if (!loaded) return std::nullopt;
  const auto inputs = image_inputs(project, loaded->config);
  if (!inputs) return std::nullopt;
  const auto plan = plan_image(*inputs);
  return plan ? std::optional(plan->digest) : std::nullopt;
}

ImageFate fate_of(CachedImage image, const WantedImage& wanted) {
  if (!image.complete)
    return {std::move(image), true, "this guard can't run on it: it is not complete, or of another version"};
  for (const fs::path& user : image.projects) {
    const auto digest = wanted(user);
    if (!digest) return {std::move(image), false, fmt::format("what {} needs can't be told", printable(user.native()))};
    if (*digest == image.digest) return {std::move(image), false, fmt::format("{} needs it", printable(user.native()))};
  }
  std::string why = image.projects.empty()
      ? "no project is known to have used it"
      : fmt::format("{} needs it no more", printable(image.projects.front().native()));
  return {std::move(image), true, std::move(why)};
}

}  // namespace

WantedImage wanted_image(std::function<ConfigSources(const fs::path&)> sources) {
  return [sources = std::move(sources), known = std::make_shared<std::map<fs::path, std::optional<std::string>>>()](
             const fs::path& project) {
    const auto found = known->find(project);
    return found != known->end() ? found->second
                                 : known->emplace(project, asks_for(project, sources(project))).first->second;
  };
}

std::vector<ImageFate> fates_of_images(
    std::vector<CachedImage> images, const fs::path& project, const WantedImage& wanted) {
  std::map<std::string, std::string> newest;
  for (const CachedImage& image : images) newest[image.name] = std::max(newest[image.name], image.imported);
  std::vector<ImageFate> fates;
  for (CachedImage& image : images) {
    if (!image.name.empty()) {
      const bool is_old = image.imported < newest[image.name];
      std::string why = is_old ? fmt::format("{} was imported again", image.name)
                               : fmt::format("`guard image remove {}` removes it", image.name);
      if (is_old || project.empty()) fates.push_back({std::move(image), is_old, std::move(why)});
    } else if (project.empty() ||
        std::find(image.projects.begin(), image.projects.end(), project) != image.projects.end()) {
      fates.push_back(fate_of(std::move(image), wanted));
    }
  }
  return fates;
}

std::vector<ImageFate> unused_images(std::vector<CachedImage> images, std::string_view kept, std::chrono::days unused,
    std::chrono::system_clock::time_point now) {
  std::vector<ImageFate> fates;
  for (CachedImage& image : images) {
    const auto days = std::chrono::floor<std::chrono::days>(now - image.used);
    if (image.digest != kept && image.name.empty() && unused.count() != 0 && days >= unused)
      fates.push_back({std::move(image), true, fmt::format("nobody has used it for {} days", days.count())});
  }
  return fates;
}

}  // namespace guard
