// Values of keys: from text or TOML into a Config, and back into text. All sources go through the same checks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/text/toml_file.h"
#include "pipeline/config/config_keys.h"
#include "pipeline/config/config_waivers.h"

namespace guard {

// Both leave a value as it was when they complain about it. Lists are comma-separated in text. `variables` and
// `waivers` have no text form.
std::optional<ConfigComplaint> set_from_text(const ConfigKey& key, std::string_view text, Config& config);
void set_from_toml(const ConfigKey& key, const TomlValue& value, std::string_view file_name, Config& config,
    std::vector<ConfigComplaint>& complaints);

// One variable of [run.env].
std::optional<ConfigComplaint> set_variable(
    std::string_view name, std::optional<std::string_view> text, Config& config);

// The value as it would stand in guard.toml; valid JSON, too. Variables and waivers answer only "{}" and "[]".
std::string toml_literal(const ConfigKey& key, const Config& config);
std::string toml_string(std::string_view text);

}  // namespace guard
