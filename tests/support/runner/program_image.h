// An engine image that holds nothing but some programs, made without any registry.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/result.h"
#include "docker/engine_client.h"

namespace guard::testing {

// Loads, as `docker save` would have written it, one layer with `programs` (path inside, without the first '/', and the
// file on the host) under `reference`, and what `config_extra` adds to the image's configuration. Returns its id.
Result<std::string> load_program_image(docker::EngineClient& engine, const std::string& reference,
    const std::map<std::string, std::filesystem::path>& programs,
    const nlohmann::json& config_extra = nlohmann::json::object());

}  // namespace guard::testing
