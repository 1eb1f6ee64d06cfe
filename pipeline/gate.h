// The gate: files -> findings -> verdict. Used by `check` by itself and by `run` before anything is run.
#pragma once

#include <optional>
#include <string_view>

#include "pipeline/backend_choice.h"
#include "pipeline/config.h"
#include "pipeline/run_record.h"
#include "pipeline/source_files.h"
#include "redact/secret_source.h"
#include "rules/matcher.h"
#include "rules/rule_set.h"

namespace guard {

struct GateRequest {
  const RuleSet* rules = nullptr;
  const Matcher* matcher = nullptr;
  const Config* config = nullptr;
  const SecretSource* secrets = nullptr;  // what is masked in excerpts
  bool files_expected = true;  // zero files is undecided
};

// Judges `files` with the tiers of `mode`. Secrets in excerpts are masked here, before any report sees them.
CheckRecord gate(const GateRequest& request, const SourceFiles& files, std::string_view mode);

// `--mode auto`: all tiers are matched first; only when host-only findings alone decide is the engine looked up.
CheckRecord gate_auto(const GateRequest& request, const SourceFiles& files, const std::function<const EngineLocation&()>& engine);

// `--staged`: the gated files, and the banned patterns on the added lines of every file.
CheckRecord gate_staged(const GateRequest& request, const StagedChange& change, std::string_view mode);

// A text that is about to be written outside of the gated paths, or run as a command: the banned patterns, and of their hits
// those that `before` did not have.
CheckRecord gate_added(const GateRequest& request, const SourceFile& after, std::string_view before, std::string_view mode);

}  // namespace guard
