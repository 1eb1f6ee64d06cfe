// Who does a session's work: `guard serve` where it runs, else this process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "serve/api.h"
#include "sessions/manager.h"

namespace guard {

enum class PoolUse : std::uint8_t { filled, none };

struct SessionService {
  std::string backend;
  std::unique_ptr<sessions::Manager> manager;
};

// In this process; it owns the state folder from here on.
Result<SessionService> open_session_service(const Options& options, CommandContext& context, PoolUse pool);

// Where `guard serve` listens.
std::filesystem::path session_socket(const std::filesystem::path& folder);

// One request, answered by `guard serve` or, where none runs, here.
Result<void> ask_session(
    const Options& options, CommandContext& context, const serve::Request& request, serve::Answer& answer);

}  // namespace guard
