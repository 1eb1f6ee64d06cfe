// The [[check.waivers]] of a guard.toml. What a waiver may not do is refused here, before anything could use it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/text/toml_file.h"
#include "pipeline/config/config.h"

namespace guard {

// A sentence, and where it is known the place in the file.
struct ConfigComplaint {
  std::string sentence;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// Adds the waiver to `config`, or complaints about it.
void add_waiver(
    const TomlValue& table, std::string_view file_name, Config& config, std::vector<ConfigComplaint>& complaints);

}  // namespace guard
