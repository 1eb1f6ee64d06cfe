// `guard clean`: removes what killed runs left behind, now and not at the next start.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/trusted_inputs.h"
#include "common/text.h"
#include "pipeline/config.h"
#include "runner/sandbox_registry.h"

namespace guard {

int cmd_clean(const CleanOptions& options, CommandContext& context) {
  // Only for where the engine is; a configuration that cannot be read is no reason to leave things behind.
  const auto loaded = load_config(config_of({}, ".", context));
  const bool plain_tcp = loaded && loaded->config.docker.plain_tcp;
  const EngineLocation engine = locate_engine(context.environment, plain_tcp, Deadline::after(milliseconds(2000)), context.cancel);
  const bool engine_answers = engine.probe.state == ProbeState::available;
  Leftovers leftovers = remove_leftovers(engine_answers ? engine.engine : docker::Endpoint(), context.cancel);
  // Containers may be left that nobody could be asked about: that is not clean.
  if (engine.probe.state == ProbeState::unknown) leftovers.failed.push_back("containers: " + engine.probe.reason);
  if (options.format == OutputFormat::json) {
    const nlohmann::ordered_json document = {{"version", 1}, {"removed", leftovers.removed}, {"failed", leftovers.failed}};
    context.streams.out.write(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    for (const auto& run : leftovers.removed) context.streams.out.print("removed: {}\n", printable(run));
    for (const auto& sentence : leftovers.failed) context.streams.out.print("failed:  {}\n", printable(sentence));
    if (leftovers.removed.empty() && leftovers.failed.empty()) context.streams.out.write("nothing was left behind\n");
  }
  return finish(context, leftovers.failed.empty() ? 0 : 2);
}

}  // namespace guard
