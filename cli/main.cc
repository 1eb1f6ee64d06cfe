#include <malloc.h>

#include <cstdio>
#include <exception>
#include <variant>

#include "cli/commands/commands.h"

namespace {

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

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
  const int status = std::visit(Overloaded{[&](const CheckOptions& options) { return cmd_check(options, context); },
                                    [&](const GateOptions& options) { return cmd_gate(options, context); },
                                    [&](const RunOptions& options) { return cmd_run(options, context); },
                                    [&](const ExecOptions& options) { return cmd_exec(options, context); },
                                    [&](const ImageOptions& options) { return cmd_image(options, context); },
                                    [&](const RulesOptions& options) { return cmd_rules(options, context); },
                                    [&](const DoctorOptions& options) { return cmd_doctor(options, context); },
                                    [&](const ConfigOptions& options) { return cmd_config(options, context); },
                                    [&](const InitOptions& options) { return cmd_init(options, context); },
                                    [&](const BriefOptions& options) { return cmd_brief(options, context); },
                                    [&](const RedactOptions& options) { return cmd_redact(options, context); },
                                    [&](const HookOptions& options) { return cmd_hook(options, context); },
                                    [&](const VerifyOptions& options) { return cmd_verify(options, context); },
                                    [&](const NightlyOptions& options) { return cmd_nightly(options, context); },
                                    [&](const CleanOptions& options) { return cmd_clean(options, context); },
                                    [&](const AuditOptions& options) { return cmd_audit(options, context); },
                                    [&](const Answer& answer) {
                                      streams.out.write(answer.out);
                                      streams.err.write(answer.err);
                                      return finish(context, answer.exit_status);
                                    }},
      command);
  return interrupted_status(context, status);
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
