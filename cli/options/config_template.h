// The guard.toml that `guard init` writes.
#pragma once

#include <string>
#include <vector>

namespace guard {

// Every key with its sentence and its default, commented out; the section headers stand. Read back it says nothing new,
// but for `gated`, which joins check.paths with the reason in a comment.
std::string config_template(const std::vector<std::string>& gated = {});

}  // namespace guard
