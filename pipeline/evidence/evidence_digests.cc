#include "pipeline/evidence/evidence_digests.h"

#include <fmt/format.h>

#include "common/hash.h"

namespace guard {
namespace {

constexpr std::size_t kDigits = 2 * Sha256::kBytes;
constexpr std::string_view kZeros = "0000000000000000000000000000000000000000000000000000000000000000";
static_assert(kZeros.size() == kDigits);

}  // namespace

std::string files_digest(const std::map<std::string, std::string>& sha256_by_path) {
  Sha256 hash;
  for (const auto& [path, sha256] : sha256_by_path)
    hash.update(std::string_view(fmt::format("{}  {}\n", sha256, path)));
  return hash.finish_hex();
}

std::string config_digest(const std::map<std::string, std::string>& value_by_key) {
  Sha256 hash;
  for (const auto& [key, value] : value_by_key) hash.update(std::string_view(fmt::format("{} = {}\n", key, value)));
  return hash.finish_hex();
}

std::string no_digest() { return std::string(kZeros); }

void write_digest(std::string& document) {
  document.replace(document.size() - kAfterDigest.size() - kDigits, kDigits, document_digest(document));
}

std::optional<std::string_view> written_digest(std::string_view document) {
  constexpr std::size_t kTail = kBeforeDigest.size() + kDigits + kAfterDigest.size();
  if (document.size() < kTail || !document.ends_with(kAfterDigest)) return std::nullopt;
  const std::string_view tail = document.substr(document.size() - kTail);
  if (!tail.starts_with(kBeforeDigest)) return std::nullopt;
  return tail.substr(kBeforeDigest.size(), kDigits);
}

std::string document_digest(std::string_view document) {
  Sha256 hash;
  hash.update(document.substr(0, document.size() - kAfterDigest.size() - kDigits));
  hash.update(kZeros);
  hash.update(kAfterDigest);
  return hash.finish_hex();
}

}  // namespace guard
