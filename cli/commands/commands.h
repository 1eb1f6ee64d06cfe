// The verbs. Each takes its options as typed, does its work through the folders below, prints, and answers the exit
// status, or an error for main() to print.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "cli/options/options.h"
#include "cli/streams.h"
#include "common/cancel.h"
#include "common/environment.h"
#include "common/result.h"
#include "common/timeline.h"

namespace guard {

struct CommandContext {
  Streams& streams;
  const Environment& environment;
  CancelToken& cancel;
  Timeline timeline = {};  // of a verb that has stages
};

using Command = Result<int> (*)(const Options& options, CommandContext& context);
Result<int> cmd_check(const Options& options, CommandContext& context);
Result<int> cmd_gate(const Options& options, CommandContext& context);
Result<int> cmd_run(const Options& options, CommandContext& context);
Result<int> cmd_exec(const Options& options, CommandContext& context);
Result<int> cmd_image(const Options& options, CommandContext& context);
Result<int> cmd_rules(const Options& options, CommandContext& context);
Result<int> cmd_doctor(const Options& options, CommandContext& context);
Result<int> cmd_redact(const Options& options, CommandContext& context);
Result<int> cmd_hook(const Options& options, CommandContext& context);
Result<int> cmd_verify(const Options& options, CommandContext& context);
Result<int> cmd_nightly(const Options& options, CommandContext& context);
Result<int> cmd_clean(const Options& options, CommandContext& context);
Result<int> cmd_audit(const Options& options, CommandContext& context);
Result<int> cmd_config(const Options& options, CommandContext& context);
Result<int> cmd_init(const Options& options, CommandContext& context);
Result<int> cmd_brief(const Options& options, CommandContext& context);
Result<int> cmd_session(const Options& options, CommandContext& context);
Result<int> cmd_artifacts(const Options& options, CommandContext& context);
Result<int> cmd_shell(const Options& options, CommandContext& context);
Result<int> cmd_serve(const Options& options, CommandContext& context);
Result<int> cmd_mcp(const Options& options, CommandContext& context);
Result<int> cmd_generate(const Options& options, CommandContext& context);

// The folder that --project names (the one we are in where it is empty), with links resolved.
Result<std::filesystem::path> project_folder(const std::string& named);

// The file that is running, and not the word it was called by: that may be a name on today's PATH.
Result<std::filesystem::path> own_program();

// Writes the document of --format json; answers 0.
int write_json(CommandContext& context, const nlohmann::ordered_json& document);

// An error as it may be shown: what git, bun or an engine said in it can hold a secret.
Error masked(const Error& error);

// Ends a verb that failed: prints `error`, masked, and answers its exit status.
int fail(CommandContext& context, const Error& error);

// Ends a verb that has a result: what could not be written in full was not said, so the status is then undecided at
// best.
int finish(CommandContext& context, int exit_status);

// With GUARD_TRACE=1 prints on standard error which stages there were. The next one to begin is the first again.
void end_timeline(CommandContext& context);

// Ends a verb, whichever it is.
int conclude(CommandContext& context, const Result<int>& done);

// 143 where SIGTERM and not SIGINT was what interrupted us.
int interrupted_status(const CommandContext& context, int exit_status);

}  // namespace guard
