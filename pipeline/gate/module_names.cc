#include "pipeline/gate/module_names.h"

#include <unistd.h>

#include <system_error>
#include <unordered_set>

#include "common/file_io.h"

namespace guard {
namespace {

constexpr std::uint64_t kBytesMax = 1 << 20;
constexpr std::size_t kExtendedMax = 256;

class Reading {
 public:
  explicit Reading(ModuleNames& names) : names_(names) {}

  void pass_over(std::string path) { passed_over_.insert(std::move(path)); }

  // The folder and all above it.
  void look_above(std::string_view folder) {
    while (seen_.emplace(folder).second) {
      for (const char* name : {"package.json", "tsconfig.json", "jsconfig.json"})
        read(std::string(folder) + "/" + name);
      if (folder.empty()) return;
      folder = folder.substr(0, folder.rfind('/'));
    }
  }

 private:
  void read(const std::string& path) {
    if (passed_over_.count(path) != 0 || ::access(path.c_str(), R_OK) != 0 || !read_.insert(path).second ||
        read_.size() > kExtendedMax * (1 + seen_.size()))
      return;
    const auto text = read_file(path, kBytesMax);
    if (!text) return;
    for (const std::string& extended : add_module_names(path, *text, names_.names)) read(extended);
  }

  ModuleNames& names_;
  std::unordered_set<std::string> seen_;
  std::unordered_set<std::string> read_;
  std::unordered_set<std::string> passed_over_;
};

}  // namespace

ModuleNames read_module_names(
    const std::filesystem::path& root, const std::vector<std::string>& paths, const std::set<std::string>& absent) {
  ModuleNames names;
  if (paths.size() < 2) return names;  // nothing to be joined
  std::error_code failure;
  const auto whole = std::filesystem::absolute(root.empty() ? "." : root, failure);
  if (failure) return names;
  names.root = normal_path(whole.native());
  Reading reading(names);
  for (const std::string& path : absent) reading.pass_over(joined_path(names.root, path));
  for (const std::string& path : paths) {
    const std::string file = joined_path(names.root, path);
    reading.look_above(std::string_view(file).substr(0, file.rfind('/')));
  }
  return names;
}

std::filesystem::path repository_above(const std::filesystem::path& folder) {
  std::error_code failure;
  const auto whole = std::filesystem::absolute(folder.empty() ? "." : folder, failure).lexically_normal();
  for (auto above = whole; !failure; above = above.parent_path()) {
    if (std::filesystem::exists(above / ".git", failure)) return above;
    if (above == above.root_path() || above.empty()) break;
  }
  return folder;
}

}  // namespace guard
