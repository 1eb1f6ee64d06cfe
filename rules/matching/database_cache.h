// Compiled Hyperscan databases of rule sets that did not come with the binary, kept in cache_folder()/hs.
//
// What is kept may be lost, and may be damaged: it carries its own SHA-256, and anything that doesn't fit is the same
// as nothing. A file that another user could have written is not read: a database is trusted like code.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace guard {

// Library version, CPU features, rules and view: what a database depends on.
std::string database_cache_key(std::string_view rules_digest, std::string_view view);

std::optional<std::string> load_cached_database(std::string_view key);

// Failing to keep is no error.
void keep_cached_database(std::string_view key, std::string_view bytes);

}  // namespace guard
