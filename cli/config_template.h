// The guard.toml that `guard init` writes.
#pragma once

#include <string>

namespace guard {

// Every key with its sentence and its default, commented out; the section headers stand. Read back it says nothing new.
std::string config_template();

}  // namespace guard
