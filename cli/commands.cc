#include "cli/commands.h"

#include <csignal>

#include "pipeline/masked_record.h"
#include "redact/secret_source.h"
#include "rules/rule_set.h"

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

Error masked(const Error& error) {
  const auto secrets = SecretSource::shipped();
  if (!secrets) return Error(error.code(), "what went wrong is withheld: no redactor could be made");
  return masked_error(*secrets, error);
}

int fail(CommandContext& context, const Error& error) {
  // Where standard output is what failed, finish() says so.
  const auto flushed = context.streams.out.flush();
  if (flushed || flushed.error().message() != error.message()) print_error(context.streams, masked(error));
  const int status = finish(context, error.exit_status());
  return status == 0 ? error.exit_status() : status;
}

int interrupted_status(const CommandContext& context, int exit_status) {
  return exit_status == 130 && context.cancel.signal_number() == SIGTERM ? 143 : exit_status;
}

}  // namespace guard
