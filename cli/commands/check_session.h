// What `guard check` and `guard gate` share: configuration, rules and secrets from where they may come from, and what
// is printed of a record, in every format and masked.
#pragma once

#include <optional>
#include <string>

#include "cli/commands/commands.h"
#include "cli/commands/rule_engine.h"
#include "pipeline/config/config.h"
#include "pipeline/gate/gate.h"
#include "redact/kinds/secret_source.h"

namespace guard {

// Outlives the request that prepare_check() makes, and the record.
struct CheckSession {
  // What is masked, made when it is first needed and then kept: making it takes longer than checking a small file.
  Result<const SecretSource*> secrets();

  Environment environment;
  std::optional<SecretSource> made_secrets;
  RuleEngine engine;
  LoadedConfig loaded;
  std::string project;  // the folder that guard.toml speaks for, or the current one
  std::optional<EngineLocation> located;
};

// Reads `sources` and the rules of the folder `rules` (empty: the shipped ones) into `session`.
Result<GateRequest> prepare_check(
    const ConfigSources& sources, const std::string& rules, CommandContext& context, CheckSession& session);

// Which files this configuration wants to be read; what git ignores is not left out yet.
CollectOptions collect_options(const Config& config);

// The record, or the error that there is none, as they may be shown.
Result<CheckRecord> masked_check(Result<CheckRecord> record, CheckSession& session);

// Prints a masked record, or the error, in this format and ends the verb. `mode` as typed.
Result<int> finish_check(const Result<CheckRecord>& record, OutputFormat format, const std::string& mode,
    const CheckSession& session, CommandContext& context);

}  // namespace guard
