#include <malloc.h>

#include <cstdio>
#include <exception>
#include <variant>

#include "cli/commands/commands.h"
#include "cli/options/verbs.h"

namespace {

int run(int argc, const char* const* argv) {
  using namespace guard;
  const Environment environment = process_environment();
  Streams streams = Streams::standard(environment);
  CancelToken cancel;
  if (auto routed = cancel_on_signals(cancel); !routed) {
    print_error(streams, routed.error());
    return routed.error().exit_status();
  }
  CommandContext context{streams, environment, cancel};
  const ParsedCommand command = parse_command_line(argc, argv);
  if (const auto* answer = std::get_if<Answer>(&command)) {
    streams.out.write(answer->out);
    streams.err.write(answer->err);
    return finish(context, answer->exit_status);
  }
  const Options& options = std::get<Options>(command);
  streams.choose_color(options.color, environment);
  return interrupted_status(context, conclude(context, options.verb->run(options, context)));
}

}  // namespace

int main(int argc, char** argv) {
  // A buffer of this size goes back to the system when it is freed. Left to itself, malloc raises the limit with the
  // first large file and from then on keeps all that a tree ever needed at once.
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  guard::occupy_closed_streams();
  try {
    return run(argc, argv);
  } catch (const std::exception& exception) {
    // Nothing below throws on purpose; memory can still run out. That is never a pass.
    std::fprintf(stderr, "error: INTERNAL: %s\n", exception.what());
    return 2;
  }
}
