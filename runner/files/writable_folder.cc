#include "runner/files/writable_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "common/text/text.h"
#include "runner/files/plain_path.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntriesMax = 200'000;

Error refuse(std::string_view name, std::string_view what) {
  return Error(ErrorCode::input_invalid, fmt::format("--write {}: {}", printable(name), what))
      .hint("name a folder of the project that holds nothing but what the command may change");
}

}  // namespace

Result<std::string> writable_folder(const fs::path& project, std::string_view name) {
  std::string relative = fs::path(name).lexically_normal().generic_string();
  while (relative.ends_with('/')) relative.pop_back();
  if (relative.empty() || relative == "." || relative == ".." || relative.starts_with("../") || relative[0] == '/' ||
      relative.find('\0') != std::string::npos)
    return refuse(name, "not a folder below the project's");

  std::error_code failure;
  fs::path path = project;
  for (const fs::path& part : fs::path(relative)) {
    if (is_never_mounted(part.native()))
      return refuse(name, fmt::format("{} is never mounted", printable(part.native())));
    path /= part;
    const auto status = fs::symlink_status(path, failure);
    if (fs::is_symlink(status)) return refuse(name, "there is a link in its path");
    if (!fs::is_directory(status)) return refuse(name, "there is no such folder");
  }

  std::size_t entries = 0;
  fs::recursive_directory_iterator at(path, failure);
  for (; !failure && at != fs::recursive_directory_iterator(); at.increment(failure)) {
    const auto shown = [&] { return printable(at->path().lexically_relative(project).native()); };
    if (++entries > kEntriesMax) return refuse(name, fmt::format("it holds more than {} files", kEntriesMax));
    if (is_never_mounted(at->path().filename().native()))
      return refuse(name, fmt::format("it holds {}, which is never mounted", shown()));
    const auto status = at->symlink_status(failure);
    if (failure) break;
    if (!fs::is_regular_file(status) && !fs::is_directory(status) && !fs::is_symlink(status))
      return refuse(name, fmt::format("it holds {}, which is no plain file", shown()));
  }
  if (failure) return refuse(name, fmt::format("it can't be read: {}", failure.message()));
  return relative;
}

}  // namespace guard
