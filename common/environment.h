// The environment of this process as a value, taken once by the command line and handed down, so that nothing below
// reads getenv() and tests need not change what all threads share.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "common/result.h"

namespace guard {

using Environment = std::map<std::string, std::string>;

// Of a name that stands there twice the first counts, as for getenv(3).
Environment process_environment();

// Empty for one that is not there.
inline std::string value_of(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

// Where guard keeps what outlives a run: $GUARD_STATE_DIR, else /var/lib/guard for root, else $XDG_STATE_HOME/guard,
// else ~/.local/state/guard. CONFIG_INVALID where there is no such place.
Result<std::filesystem::path> state_root(const Environment& environment);

}  // namespace guard
