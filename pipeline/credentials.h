// The credentials of a configuration with their values, which are read here, outside of every sandbox.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/environment.h"
#include "common/result.h"
#include "egress/keys/credential.h"
#include "pipeline/config/config.h"

namespace guard {

// CONFIG_INVALID with a hint where a file or program of a credential, or network.authorities, lies in the tree of
// `project`, whose files the author of the code may change, or where a link on the way to it does. Reads none of them.
Result<void> check_key_files(const Config& config, const std::filesystem::path& project);

// Each with its value; none where the network is no allowlist. Call it when nothing else can refuse the run: a command
// may be started, in / and with no more than PATH, HOME and USER of `environment`, which is guard's own. From here on
// this process leaves no core dump. What check_key_files() says; CONFIG_INVALID and INPUT_INVALID name what can't be
// read (the variable, the file, the program), never what was read.
Result<std::vector<EgressCredential>> read_credentials(const Config& config, const std::filesystem::path& project,
    const Environment& environment, const CancelToken& cancel);

// What output and records must not hold, as secrets_of() takes it.
std::map<std::string, std::string> hidden_by(const std::vector<EgressCredential>& credentials);

// The same of what can be read without starting a command; nothing of what can't be read.
std::map<std::string, std::string> hidden_without_commands(const Config& config, const Environment& environment);

// "network.credential: Authorization for api.example.com from env:KEY": one for each, in the words that the recorded
// configuration has for it; `guard verify` compares them. And one for network.authorities.
std::vector<std::string> credential_relaxations(const Config& config);

}  // namespace guard
