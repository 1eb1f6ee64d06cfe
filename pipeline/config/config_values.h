// Values of keys: from text or TOML into a Config, and back into text. All sources go through the same checks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/text/toml_file.h"
#include "pipeline/config/config_keys.h"

namespace guard {

// A sentence, and where it is known the place in the file.
struct ConfigComplaint {
  std::string sentence;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};
using ConfigComplaints = std::vector<ConfigComplaint>;

// These leave a value as it was when they complain about it. Lists are comma-separated in text.
ConfigComplaints set_from_text(const ConfigKey& key, std::string_view text, Config& config);
ConfigComplaints set_from_toml(
    const ConfigKey& key, const TomlValue& value, std::string_view file_name, Config& config);

// One variable of [run.env]; without `text` guard's own value is passed on.
std::optional<ConfigComplaint> set_variable(
    std::string_view name, std::optional<std::string_view> text, Config& config);

// One table of [[check.waivers]] (config_waivers.cc). What a waiver may not do is refused here, before anything could
// use it.
void add_waiver(
    const TomlValue& table, std::string_view file_name, std::vector<Waiver>& waivers, ConfigComplaints& complaints);

// One table of [[network.credential]] (config_credentials.cc).
void add_credential(const TomlValue& table, std::string_view file_name, std::vector<CredentialRule>& credentials,
    ConfigComplaints& complaints);

// The value as it would stand in guard.toml; valid JSON, too. Variables, waivers and credentials answer only "{}" and
// "[]".
std::string toml_literal(const ConfigKey& key, const Config& config);
std::string toml_string(std::string_view text);

}  // namespace guard
