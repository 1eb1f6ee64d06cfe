// The verbs. Each takes its options as typed, does its work through the folders below, prints, and answers the exit
// status.
#pragma once

#include <filesystem>

#include "cli/options/options.h"
#include "cli/streams.h"
#include "common/cancel.h"
#include "common/environment.h"
#include "common/result.h"

namespace guard {

struct CommandContext {
  Streams& streams;
  const Environment& environment;
  CancelToken& cancel;
};

int cmd_check(const CheckOptions& options, CommandContext& context);
int cmd_gate(const GateOptions& options, CommandContext& context);
int cmd_run(const RunOptions& options, CommandContext& context);
int cmd_exec(const ExecOptions& options, CommandContext& context);
int cmd_image(const ImageOptions& options, CommandContext& context);
int cmd_rules(const RulesOptions& options, CommandContext& context);
int cmd_doctor(const DoctorOptions& options, CommandContext& context);
int cmd_redact(const RedactOptions& options, CommandContext& context);
int cmd_hook(const HookOptions& options, CommandContext& context);
int cmd_verify(const VerifyOptions& options, CommandContext& context);
int cmd_nightly(const NightlyOptions& options, CommandContext& context);
int cmd_clean(const CleanOptions& options, CommandContext& context);
int cmd_audit(const AuditOptions& options, CommandContext& context);
int cmd_config(const ConfigOptions& options, CommandContext& context);
int cmd_init(const InitOptions& options, CommandContext& context);
int cmd_brief(const BriefOptions& options, CommandContext& context);

// The folder that --project names (the one we are in where it is empty), with links resolved.
Result<std::filesystem::path> project_folder(const std::string& named);

// The file that is running, and not the word it was called by: that may be a name on today's PATH.
Result<std::filesystem::path> own_program();

// An error as it may be shown: what git, bun or an engine said in it can hold a secret.
Error masked(const Error& error);

// Ends a verb: prints `error`, masked, and answers its exit status.
int fail(CommandContext& context, const Error& error);

// Ends a verb that has a result: what could not be written in full was not said, so the status is then undecided at
// best.
int finish(CommandContext& context, int exit_status);

// 143 where SIGTERM and not SIGINT was what interrupted us.
int interrupted_status(const CommandContext& context, int exit_status);

}  // namespace guard
