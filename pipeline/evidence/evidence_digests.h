// The digests in an evidence record that anybody can make again with common tools; docs/evidence.md says how.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace guard {

// SHA-256 over "hash  path\n" of every file in the order of the paths: what `sha256sum` prints.
std::string files_digest(const std::map<std::string, std::string>& sha256_by_path);

// SHA-256 over "key = value\n" of every key in the order of the keys.
std::string config_digest(const std::map<std::string, std::string>& value_by_key);

// A record ends with its digest: 64 hex digits between these two. The digest is the SHA-256 of the whole document with
// 64 zeros in its place.
inline constexpr std::string_view kBeforeDigest = "\n  \"digest\": \"";
inline constexpr std::string_view kAfterDigest = "\"\n}\n";

// For a document that is being written: 64 zeros, to be replaced by write_digest() when the rest is there.
std::string no_digest();
void write_digest(std::string& document);

// The digest as it stands at the end of `document`; nothing where it does not end like a record.
std::optional<std::string_view> written_digest(std::string_view document);

// The digest that `document` ought to have. It has to end like a record.
std::string document_digest(std::string_view document);

}  // namespace guard
