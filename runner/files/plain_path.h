// Questions about a path as it is written, without a look at the disk.
#pragma once

#include <algorithm>
#include <string_view>

namespace guard {

// Whether `test` holds for a part between two slashes, or for the whole where there is none.
template <typename Test>
bool any_path_part(std::string_view path, Test test) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (test(path.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

// Relative, without "//", ".", "..", a trailing slash or a NUL: what is written is what is meant, whoever resolves it.
inline bool is_plain_relative(std::string_view path) {
  return path.find('\0') == std::string_view::npos &&
      !any_path_part(path, [](std::string_view part) { return part.empty() || part == "." || part == ".."; });
}
inline bool is_plain_absolute(std::string_view path) {
  return path == "/" || (path.starts_with('/') && is_plain_relative(path.substr(1)));
}

inline bool is_same_or_below(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path == folder || (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

// A name that is never shown to a program under test, wherever it lies.
inline bool is_never_mounted(std::string_view part) {
  return part == ".git" || part == "node_modules" || part.starts_with(".env");
}

inline bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace guard
