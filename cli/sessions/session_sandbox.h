// What sessions run in here: the sandbox that the configuration of a project chooses, on that project's image.
#pragma once

#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "common/result.h"
#include "pipeline/session_networks.h"
#include "sessions/manager.h"

namespace guard {

struct SessionSandboxes {
  std::string backend;  // in a document
  sessions::SandboxFactory factory;
  std::map<std::string, std::string> env;  // that the image wants for its programs
  Limits limits;
  sessions::RemoveLeftover remove_leftover;
};

// On the image that `session.image` names, or the project's, which is built where it is missing. IMAGE_MISSING.
// ENVIRONMENT_UNAVAILABLE where the chosen backend has no sandboxes that stay, and for the reasons of a run. `loaded`
// outlives nothing: what is needed of it is copied.
Result<SessionSandboxes> session_sandboxes(const Options& options, const LoadedConfig& loaded, CommandContext& context,
    std::shared_ptr<SessionNetworks> networks);

// <state>/sessions: ledger, workspaces, logs and socket.
Result<std::filesystem::path> sessions_folder(const Options& options, const CommandContext& context);

}  // namespace guard
