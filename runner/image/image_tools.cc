#include "runner/image/image_tools.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "common/text/text.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgramFolders[] = {"/usr/bin", "/bin"};

Error refused(const std::string& name, std::string_view why) {
  return Error(ErrorCode::input_invalid, fmt::format("{} can't be taken into the image: {}", printable(name), why))
      .hint("leave it out of [image] tools");
}

Result<fs::path> find_program(const std::string& name) {
  if (!is_tool_name(name)) return refused(name, "it is no name of a program");
  for (const char* folder : kProgramFolders) {
    std::error_code failure;
    const fs::path path = fs::canonical(fs::path(folder) / name, failure);
    if (failure) continue;
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
      return Error::from_errno(ErrorCode::io_error, printable(path.native()), errno);
    if (!S_ISREG(status.st_mode) || (status.st_mode & S_IXOTH) == 0)
      return refused(name, "it is no program for everybody");
    if ((status.st_mode & (S_ISUID | S_ISGID)) != 0 ||
        ::getxattr(path.c_str(), "security.capability", nullptr, 0) >= 0) {
      return refused(name, "it runs with more rights than its caller has");
    }
    if (status.st_uid != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
      return refused(name, "another user than root may change it");
    return path;
  }
  return Error(ErrorCode::dependency_unsatisfied, fmt::format("{} is not in /usr/bin or /bin", printable(name)))
      .hint("install its package, or leave it out of [image] tools");
}

}  // namespace

bool is_tool_name(std::string_view name) noexcept {
  constexpr std::string_view kInside = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
  return !name.empty() && name.size() <= 64 && name.front() != '.' && name.front() != '-' &&
      name.find_first_not_of(kInside) == std::string_view::npos;
}

Result<std::vector<LibraryFile>> tool_files(const std::vector<std::string>& names) {
  std::map<std::string, fs::path> found;  // target -> source
  for (const std::string& name : names) {
    GUARD_TRY_ASSIGN(const fs::path program, find_program(name));
    GUARD_TRY_ASSIGN(const auto elf, read_elf(program));
    if (!elf) return refused(name, "it is a script or a program for another machine");
    auto libraries = needed_libraries(program);
    if (!libraries) return std::move(libraries).context(fmt::format("taking {} into the image", name)).error();
    for (auto& library : *libraries) found.emplace(std::move(library.target), std::move(library.source));
    found["usr/bin/" + name] = program;
  }
  std::vector<LibraryFile> files;
  for (auto& [target, source] : found) files.push_back({std::move(source), target});
  return files;
}

}  // namespace guard
