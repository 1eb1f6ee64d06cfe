#include "rules/matching/database_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/unique_fd.h"
#include "rules/matching/hyperscan_scanner.h"

namespace guard {
namespace {

constexpr std::string_view kMagic = "guard database 1 ";
constexpr std::uint64_t kDatabaseBytesMax = 256u << 20;

Result<std::filesystem::path> path_of(std::string_view key) {
  GUARD_TRY_ASSIGN(const auto folder, cache_folder());
  return folder / "hs" / std::string(key);
}

std::string header_of(std::string_view bytes) { return fmt::format("{}{}\n", kMagic, sha256_hex(bytes)); }

}  // namespace

std::string database_cache_key(std::string_view rules_digest, std::string_view view) {
  Sha256 hash;
  hash.update_field(HyperscanScanner::library_version());
  hash.update_field(HyperscanScanner::machine());
  hash.update_field(rules_digest);
  hash.update_field(view);
  return hash.finish_hex();
}

std::optional<std::string> load_cached_database(std::string_view key) {
  const auto path = path_of(key);
  if (!path) return std::nullopt;
  const UniqueFd fd(::open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 022u) != 0) return std::nullopt;
  auto text = read_all(fd.get(), kDatabaseBytesMax, path->string());
  if (!text) return std::nullopt;
  const std::size_t line_end = text->find('\n');
  if (line_end == std::string::npos) return std::nullopt;
  std::string bytes = text->substr(line_end + 1);
  if (text->compare(0, line_end + 1, header_of(bytes)) != 0) return std::nullopt;
  return bytes;
}

void keep_cached_database(std::string_view key, std::string_view bytes) {
  const auto path = path_of(key);
  if (!path || !make_folders(path->parent_path(), 0700)) return;
  // A full or read-only disk costs time at the next start, nothing else.
  static_cast<void>(write_file_atomically(*path, header_of(bytes) + std::string(bytes), 0600));
}

}  // namespace guard
