// `guard gate`: a change as a whole.
#include <unistd.h>

#include <algorithm>

#include "cli/commands/check_session.h"
#include "cli/commands/commands.h"
#include "cli/commands/trusted_inputs.h"
#include "common/file_io.h"
#include "pipeline/change/change_source.h"
#include "pipeline/gate/gate.h"

namespace guard {
namespace {

// Patches and contents are held in memory; what is larger than the policy allows is refused for its size, unread.
constexpr std::uint64_t kPatchBytesMax = 64u << 20;
constexpr std::uint64_t kTextBytesMax = 64u << 20;
constexpr std::uint64_t kFilesListed = 1'000;

Result<ChangeRequest> change_request(const Options& options, std::string base, const Config& config) {
  ChangeRequest request;
  request.base = std::move(base);
  request.head = options.head;
  request.from = !options.head.empty() ? ChangeFrom::commit
      : options.staged                 ? ChangeFrom::index
      : !options.patch.empty()         ? ChangeFrom::patch
                                       : ChangeFrom::work_tree;
  if (options.patch == "-") {
    GUARD_TRY_ASSIGN(request.patch, read_all(STDIN_FILENO, kPatchBytesMax, "standard input"));
  } else if (!options.patch.empty()) {
    GUARD_TRY_ASSIGN(request.patch, read_file(options.patch, kPatchBytesMax));
  }
  request.file_bytes_max = std::max(config.check.max_file_bytes, config.policy.max_diff_bytes);
  request.bytes_max = std::max(kTextBytesMax, config.policy.max_diff_bytes);
  request.files_max = std::max(kFilesListed, config.policy.max_changed_files_per_task);
  request.list_unchanged = true;
  return request;
}

Result<CheckRecord> judge(const Options& options, CommandContext& context, CheckSession& session) {
  GUARD_TRY(refuse_inside_tree(options.config, "--config", ".", context));
  GUARD_TRY(refuse_inside_tree(options.rules, "--rules", ".", context));
  // Once: whatever moves the name meanwhile, configuration and comparison have the same base.
  GUARD_TRY_ASSIGN(std::string base, commit_id(".", options.base, context.cancel));
  GUARD_TRY_ASSIGN(const ConfigSources sources, config_at(options.config, ".", base, context));
  GUARD_TRY_ASSIGN(GateRequest request, prepare_check(sources, options.rules, context, session));
  request.files_expected = !options.allow_empty;
  request.keep_names = options.format == OutputFormat::junit;
  const Config& config = session.loaded.config;
  GUARD_TRY_ASSIGN(const ChangeRequest asked, change_request(options, std::move(base), config));
  context.timeline.begin("change");
  GUARD_TRY_ASSIGN(const CollectedChange collected, collect_change(".", asked, context.cancel));
  context.timeline.begin("check");
  return gate_change(
      request, collected.change, policy_options(config, options.kind.value_or(TaskKind::test)), options.mode);
}

}  // namespace

Result<int> cmd_gate(const Options& options, CommandContext& context) {
  CheckSession session;
  const auto record = masked_check(judge(options, context, session), session);
  return finish_check(record, options.format, options.mode, session, context);
}

}  // namespace guard
