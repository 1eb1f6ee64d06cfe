// `guard serve install` and `uninstall`. Files are written, and nothing is started or stopped.
#pragma once

#include "cli/commands/commands.h"
#include "common/result.h"
#include "common/time.h"

namespace guard {

// `stop_max`: what a serve with these options may take to stop.
Result<int> serve_install(const Options& options, CommandContext& context, milliseconds stop_max);
Result<int> serve_uninstall(const Options& options, CommandContext& context);

}  // namespace guard
