// Images for sessions out of the packages of this machine's Debian, without an engine and without a registry of images.
// mmdebstrap does the work: as root in a folder, else in a user namespace, for which the user needs newuidmap and
// ranges in /etc/subuid and /etc/subgid.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/enum_names.h"
#include "common/environment.h"
#include "common/result.h"
#include "runner/image/image.h"

namespace guard {

enum class ImageTemplate : std::uint8_t { python, node, bun };

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<ImageTemplate> = {"python", "node", "bun"};

struct DebianRequest {
  std::string name;
  ImageTemplate base = ImageTemplate::python;
  std::vector<std::string> packages;  // besides the template's own
};

// From where this machine's apt gets its packages, by whatever proxy it uses; neither is in the image. bun is the one
// that guard uses. DEPENDENCY_UNSATISFIED where mmdebstrap or sources are missing; IMAGE_BUILD_FAILED with its words,
// all of them in <cache>/image-build.log; those of import_image().
Result<ImagePlan> build_debian_image(const DebianRequest& request, const Environment& environment,
    const CancelToken& cancel, const ImageProgress& progress);

}  // namespace guard
