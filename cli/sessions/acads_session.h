// `guard session --backend acads`: the requests of serve/api.h that a session pool at Azure can answer: open, exec,
// files up and down, list, close. Every answer says that nothing about its confinement is proved.
#pragma once

#include "cli/commands/commands.h"
#include "serve/api.h"

namespace guard {

// Asks nobody but Azure, whether `guard serve` runs or not. USAGE for a request that is not offered there.
Result<void> ask_acads(
    const Options& options, CommandContext& context, const serve::Request& request, serve::Answer& answer);

Error not_at_azure(std::string_view what);

}  // namespace guard
