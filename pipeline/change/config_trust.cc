#include "pipeline/change/config_trust.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <system_error>
#include <thread>

#include "common/text/text.h"
#include "common/threads.h"
#include "pipeline/change/change_source.h"
#include "pipeline/change/git.h"
#include "pipeline/change/git_objects.h"
#include "pipeline/config/config_file.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// Seen from `top`, or nothing where it lies elsewhere. Both canonical.
std::string below(const fs::path& top, const fs::path& file) {
  const fs::path relative = file.lexically_relative(top);
  return relative.empty() || *relative.begin() == ".." ? std::string() : relative.generic_string();
}

Error refused(const LoadedConfig& loaded, std::string_view why) {
  return Error(ErrorCode::config_invalid,
      fmt::format("{} relaxes what guard promises, {}: {}", printable(loaded.file.native()), why,
          fmt::join(loaded.relaxations, ", ")))
      .hint(
          "commit guard.toml as it is, or keep the configuration outside of the project and name it with --config; "
          "what the tested code's author can write is not taken");
}

}  // namespace

Result<bool> is_committed(
    const fs::path& folder, const fs::path& file, std::string_view bytes, const CancelToken& cancel) {
  std::error_code failure;
  const fs::path here = fs::canonical(folder, failure);
  const fs::path whole = (here / file).lexically_normal();  // what is absolute stays as it is
  // Git is asked this while it says which work tree that is.
  std::optional<std::string> plain;
  std::thread asking;
  if (const std::string near = failure ? std::string() : below(here, whole); !near.empty()) {
    auto started = new_thread([&, near] { plain = plain_file_at_head(Git(folder, cancel), "./" + near); });
    if (started) asking = *std::move(started);
  }
  const auto named_top = Git(folder, cancel).top();
  if (asking.joinable()) asking.join();
  if (!named_top) return named_top.error();
  const fs::path top = failure ? fs::path() : fs::canonical(*named_top, failure);
  const std::string name = failure ? std::string() : below(top, whole);
  if (name.empty()) return false;
  if (plain) return *plain == bytes;
  GUARD_TRY_ASSIGN(const std::string committed, read_at(Git(*named_top, cancel), {}, name));
  return committed == bytes;
}

Result<void> trust_relaxations(const LoadedConfig& loaded, const fs::path& project, const CancelToken& cancel) {
  if (loaded.relaxations.empty() || loaded.file.empty()) return ok();
  GUARD_TRY_ASSIGN(const ConfigPlace place, config_place(project));
  std::error_code failure;
  const fs::path file = fs::canonical(loaded.file, failure);
  if (failure) return refused(loaded, "and where it is can't be told");
  if (below(place.root, file).empty()) return ok();
  const auto committed = is_committed(place.root, file, loaded.file_bytes, cancel);
  if (committed && *committed) return ok();
  if (committed) return refused(loaded, "and is not what HEAD has");
  if (committed.error().code() == ErrorCode::cancelled) return committed.error();
  return refused(loaded, fmt::format("and whether it is committed can't be told ({})", committed.error().message()));
}

}  // namespace guard
