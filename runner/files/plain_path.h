// Questions about a path as it is written, without a look at the disk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
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

// A name under which people and programs keep private keys and passwords; rules/docker_block.toml forbids reading them.
inline bool holds_credentials(std::string_view part) {
  constexpr std::string_view kNames[] = {"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk",
      ".npmrc", ".netrc", "_netrc", ".pgpass", ".pypirc", ".git-credentials", ".dockercfg", ".my.cnf", ".htpasswd",
      ".vault-token", ".ssh", ".gnupg", ".aws"};
  constexpr std::string_view kEndings[] = {".pem", ".key", ".p12", ".pfx", ".jks", ".ppk", ".kdbx", ".keystore"};
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto ends_with = [&](std::string_view end) {
    return part.size() >= end.size() &&
        std::equal(end.begin(), end.end(), part.end() - static_cast<std::ptrdiff_t>(end.size()),
            [&](char a, char b) { return a == lower(b); });
  };
  return std::any_of(std::begin(kNames), std::end(kNames),
             [&](auto name) { return part.size() == name.size() && ends_with(name); }) ||
      std::any_of(std::begin(kEndings), std::end(kEndings), ends_with);
}

inline bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace guard
