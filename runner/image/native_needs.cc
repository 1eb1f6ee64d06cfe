#include "runner/image/native_needs.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "common/error.h"
#include "common/text/text.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// "node_modules/.bun/x@1/node_modules/@s/b/lib/c.so" -> "@s/b"
std::string package_of(const std::string& path) {
  constexpr std::string_view kModules = "node_modules/";
  const auto at = path.rfind(kModules);
  if (at == std::string::npos) return path;
  const std::string rest = path.substr(at + kModules.size());
  const auto slash = rest.find('/');
  return rest.substr(0, rest.starts_with('@') && slash != std::string::npos ? rest.find('/', slash + 1) : slash);
}

bool may_be_native(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().native();
  std::error_code failure;
  const auto status = entry.symlink_status(failure);
  if (failure || !fs::is_regular_file(status)) return false;
  return name.ends_with(".node") || name.find(".so") != std::string::npos ||
      (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
}

class Needs {
 public:
  explicit Needs(const std::vector<LibraryFile>& present) {
    for (const auto& library : present) known_.insert(fs::path(library.target).filename().native());
  }

  Result<void> read(const InstalledTrees& trees) {
    for (const auto& place : trees.module_folders) {
      std::error_code failure;
      for (fs::recursive_directory_iterator entry(trees.folder / place / "node_modules", failure), end;
           !failure && entry != end; entry.increment(failure)) {
        if (!may_be_native(*entry)) continue;
        const auto elf = read_elf(entry->path());
        // What is damaged does not load anywhere.
        if (!elf && elf.error().code() != ErrorCode::input_invalid) return elf.error();
        if (!elf || !*elf) continue;
        known_.insert(entry->path().filename().native());
        const auto& needed = (*elf)->needed;
        if (std::any_of(needed.begin(), needed.end(),
                [](const std::string& name) { return name.starts_with("libc.musl-") || name == "libc.so"; }))
          continue;
        for (const auto& name : needed)
          wanted_.emplace(name, package_of(entry->path().lexically_relative(trees.folder).generic_string()));
      }
      if (failure)
        return Error::from_errno(ErrorCode::io_error, printable((trees.folder / place).native()), failure.value());
    }
    return ok();
  }

  Result<NativeNeeds> find() {
    NativeNeeds needs;
    for (const auto& [name, package] : wanted_) {
      if (known_.count(name) != 0) continue;
      auto libraries = needed_libraries(std::vector<std::string>{name});
      if (!libraries) {
        if (libraries.error().code() != ErrorCode::dependency_unsatisfied) return std::move(libraries).error();
        needs.missing.emplace(package, name);
        continue;
      }
      for (auto& library : *libraries) {
        if (known_.insert(fs::path(library.target).filename().native()).second)
          needs.libraries.push_back(std::move(library));
      }
    }
    std::sort(needs.libraries.begin(), needs.libraries.end(),
        [](const auto& a, const auto& b) { return a.target < b.target; });
    return needs;
  }

 private:
  std::set<std::string> known_;
  std::map<std::string, std::string> wanted_;  // library -> a package that needs it
};

}  // namespace

Result<NativeNeeds> native_needs(const InstalledTrees& trees, const std::vector<LibraryFile>& present) {
  Needs needs(present);
  GUARD_TRY(needs.read(trees));
  return needs.find();
}

}  // namespace guard
