// The gate: files -> findings -> verdict. Used by `check` by itself and by `run` before anything is run.
//
// Every check takes the same way: files are looked at one by one (from memory, or by tree_check.h), what they say is
// judged together, and what is found goes through marks, excerpts, masks, waivers and the baseline to a verdict.
//
// `mode` is that of a sandbox, or "auto" where the request has an engine: all tiers are matched first, and only where
// there are host-only findings is the engine looked up. So no file changes what is said of another one.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "pipeline/backend_choice.h"
#include "pipeline/config/config.h"
#include "pipeline/gate/baseline.h"
#include "pipeline/gate/source_files.h"
#include "pipeline/gate/tree_check.h"
#include "pipeline/run_record.h"
#include "redact/kinds/secret_source.h"
#include "rules/matching/matcher.h"
#include "rules/rule_set.h"
#include "validator/change/change_policy.h"
#include "validator/change/change_set.h"

namespace guard {

using LocateEngine = std::function<const EngineLocation&()>;

struct GateRequest {
  const RuleSet* rules = nullptr;
  const Matcher* matcher = nullptr;
  const Config* config = nullptr;
  // What is masked in excerpts. Asked for with the first finding only: making it takes longer than checking a small
  // file.
  std::function<Result<const SecretSource*>()> secrets;
  std::filesystem::path project;       // what relative paths start from; empty: the current folder
  std::filesystem::path seen_from;     // what the paths of waivers start from; empty: the same
  std::set<std::string> absent;        // files that a run will not see: no names are taken from them
  bool files_expected = true;          // zero files is undecided
  bool keep_names = false;             // CheckRecord::names: only for reports that list clean files, too
  const Baseline* baseline = nullptr;  // findings that are no reason to refuse
  LocateEngine engine = {};            // for the mode "auto"
};

// How the configuration wants files to be judged.
ValidatorOptions validator_options(const Config& config, TierSet tiers);

// The same with the names under which `files` may import each other; relative paths start from the request's project.
ValidatorOptions validator_options(
    const GateRequest& request, const std::vector<SourceFile>& files, std::string_view mode);

// Judges `files` with the tiers of `mode`. Secrets in excerpts are masked here, before any report sees them.
CheckRecord gate(const GateRequest& request, const SourceFiles& files, std::string_view mode);

// Its two halves, for those who weigh what they looked at more than once (run_gate.h): `hits` are of `files`, or of
// more files.
Result<TreeHits> look_at_files(const GateRequest& request, const SourceFiles& files, std::string_view mode);
CheckRecord weigh_files(
    const GateRequest& request, const SourceFiles& files, const Result<TreeHits>& hits, std::string_view mode);

// Reads and judges in parallel without keeping (tree_check.h). Excerpts are made from a second reading of the files
// that have findings, and left out where a file has changed.
CheckRecord gate_tree(const GateRequest& request, const TreeGate& tree, std::string_view mode);

// What [policy] says for tasks of this kind; without allowed_paths a task that writes tests may change what [check]
// paths gates.
PolicyOptions policy_options(const Config& config, TaskKind kind);

// A change as a whole: the policy on it (empty: without one), the tiers on its gated files, and the banned patterns on
// the added lines of every file. Gated is what [check] paths says (is_gated_path()). Fails closed: a file that was not
// read is a finding, and so is, without a policy, too, what configures guard or stands for gated files without being
// one (a link, a submodule). A change without any file is undecided where request.files_expected, else allowed.
CheckRecord gate_change(const GateRequest& request, const ChangeSet& change, const std::optional<PolicyOptions>& policy,
    std::string_view mode);

// A text that is about to be written outside of the gated paths, or run as a command: the banned patterns (and, in a
// script with [hook] everywhere, the always tier), and of their hits those that `before` did not have.
CheckRecord gate_added(
    const GateRequest& request, const SourceFile& after, std::string_view before, std::string_view mode);

}  // namespace guard
