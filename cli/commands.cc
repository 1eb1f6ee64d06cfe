#include "cli/commands.h"

#include <csignal>

namespace guard {

int finish(CommandContext& context, int exit_status) {
  if (auto flushed = context.streams.out.flush(); !flushed) {
    print_error(context.streams, flushed.error());
    (void)context.streams.err.flush();
    return flushed.error().exit_status();
  }
  (void)context.streams.err.flush();  // where talk can't be written there is nowhere left to say so
  return exit_status;
}

int fail(CommandContext& context, const Error& error) {
  print_error(context.streams, error);
  const int status = finish(context, error.exit_status());
  return status == 0 ? error.exit_status() : status;
}

int interrupted_status(const CommandContext& context, int exit_status) {
  return exit_status == 130 && context.cancel.signal_number() == SIGTERM ? 143 : exit_status;
}

}  // namespace guard
