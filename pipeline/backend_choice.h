// Which tiers apply and where the code runs: the decision of the table in docs/verdicts.md as a pure function of what
// was probed. An engine in an unknown state is never a reason to run anywhere.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/environment.h"
#include "common/result.h"
#include "pipeline/config/config.h"
#include "runner/image/image.h"
#include "runner/sandbox/sandbox_registry.h"
#include "validator/validator.h"

namespace guard {

struct BackendChoice {
  Backend backend = Backend::docker;  // before there is a choice
  TierSet tiers;
  std::string why;                       // one sentence
  std::vector<std::string> relaxations;  // what the configuration allowed beyond the default; goes into the record
};

// The tiers of a mode: what the code is judged for, a backend by its name. Any other has all.
TierSet tiers_of(std::string_view mode, bool trust_namespace);
std::vector<std::string> tier_names(TierSet tiers);

// The state of a backend; asked at most once for each, and only where the answer matters.
using BackendProbe = std::function<SandboxProbe(Backend)>;

// The first of the configured backend and its fallbacks that is there, as long as those before it are provably absent.
// `forced`: the backend of --backend; it skips the choice, not the tiers, and host still needs the configuration's
// leave. ENVIRONMENT_UNAVAILABLE with the reason and what to do.
Result<BackendChoice> choose_backend(const Config& config, std::optional<Backend> forced, const BackendProbe& probe);

// ENVIRONMENT_UNAVAILABLE where [rollout] lets nothing run in the sandbox. A person's run is no task with an id: it
// counts as one that any percentage but 0 has chosen. It never leads to the host: whoever writes guard.toml could then
// move runs there. Not a part of the choice: a night asks for each task (nightly/plan/queue.h), and --backend overrules
// it.
Result<void> rolled_out(const Config& config);

// The engine that this environment leads to, looked for as the configuration says.
EngineLocation locate_engine(const Config& config, const Environment& environment, const CancelToken& cancel);

// What the image of a project is made from, with this machine's bun.
Result<ImageInputs> image_inputs(std::filesystem::path project, const Config& config);

// [limits], as a sandbox takes them.
Limits limits_of(const Config& config);

// What the configuration says of the backends.
SandboxOptions sandbox_options(const Config& config, const Environment& environment, docker::Endpoint engine);

// `engine`: where docker is asked for.
SandboxProbe probe_backend(Backend backend, const Config& config, const Environment& environment,
    const std::function<const EngineLocation&()>& engine);

// CONFIG_INVALID where the configuration grants the code a network that the chosen backend cannot give: said before
// anything is built or staged, and never answered with less than was asked for. Not a part of the choice: `guard check`
// chooses too, and runs nothing.
Result<void> network_fits(const BackendChoice& choice, const Config& config, bool unprotected_engine = false);

}  // namespace guard
