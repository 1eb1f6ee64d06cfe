// What the actions of `guard nightly` share, and those that have a file of their own.
#pragma once

#include <filesystem>
#include <string>

#include "cli/commands/commands.h"
#include "nightly/loop/journal.h"
#include "nightly/loop/night_repository.h"
#include "nightly/loop/state_folder.h"
#include "nightly/plan/plan.h"
#include "pipeline/config/config.h"
#include "rules/rule_set.h"

namespace guard {

struct NightlyPlace {
  nightly::NightRepository repository;
  nightly::StateFolder state;
};

// `cancel`: for git; see NightContext::repository.
Result<NightlyPlace> nightly_place(const Options& options, CommandContext& context, const CancelToken& cancel);

// The night that --night names, or the newest. FILE_NOT_FOUND with what to do next.
Result<nightly::Night> chosen_night(const nightly::Journal& journal, const std::string& id);

// A plan file as named. FILE_NOT_FOUND, CONFIG_INVALID.
Result<nightly::Plan> read_plan(const std::string& named);

// What a night is judged by: whoever resumes it, or works for it, has to bring the same.
std::string judging_digest(const RuleSet& rules, const LoadedConfig& config);

// nightly_work.cc: the first half of an attempt, for a coordinator elsewhere.
Result<int> nightly_work(const Options& options, CommandContext& context);

// nightly_export.cc: manifests for workers of a cluster.
Result<int> nightly_export(const Options& options, CommandContext& context);

// nightly_size.cc: how long a night takes on more machines.
Result<int> nightly_size(const Options& options, CommandContext& context);

// nightly_review.cc: list, review, take, drop, send-back.
Result<int> nightly_review(const Options& options, CommandContext& context);

// nightly_add.cc: one more task in a plan.
Result<int> nightly_add(const Options& options, CommandContext& context);

// nightly_install.cc: units for systemd, or a line for cron; and their removal.
Result<int> nightly_install(const Options& options, CommandContext& context);
Result<int> nightly_uninstall(const Options& options, CommandContext& context);

}  // namespace guard
