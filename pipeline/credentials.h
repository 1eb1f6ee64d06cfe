// The credentials of a configuration with their values, which are read here, outside of every sandbox.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/environment.h"
#include "common/result.h"
#include "egress/credential.h"
#include "pipeline/config/config.h"

namespace guard {

// Each with its value; none where the network is no allowlist. `environment` is guard's own. CONFIG_INVALID and
// INPUT_INVALID name what can't be read (the variable, the file, the program), never what was read.
Result<std::vector<EgressCredential>> read_credentials(const Config& config, const Environment& environment);

// What output and records must not hold, as secrets_of() takes it.
std::map<std::string, std::string> hidden_by(const std::vector<EgressCredential>& credentials);

// "network.credential: Authorization for api.example.com:443": the beginning is what `guard verify` looks for.
std::vector<std::string> credential_relaxations(const Config& config);

}  // namespace guard
