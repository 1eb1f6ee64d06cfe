#include "validator/change/trusted_files.h"

#include <algorithm>
#include <string>

#include "common/text/characters.h"
#include "common/text/glob.h"
#include "rules/surface.h"
#include "validator/change/path_names.h"

namespace guard {

bool configures_guard(std::string_view path) {
  return is_listed(lower_case(path.substr(path.rfind('/') + 1)), "guard_files");
}

bool configures_hooks(std::string_view path) {
  const auto globs = word_list("hook_files");
  // With a folder in front `**/` matches at the root, too, whatever the glob's author thought of that.
  const std::string folded = "x/" + lower_case(path);
  return std::any_of(
      globs.begin(), globs.end(), [&](const SurfaceRow& glob) { return glob_matches(glob.name, folded); });
}

}  // namespace guard
