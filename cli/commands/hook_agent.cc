#include "cli/commands/hook_agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands/check_session.h"
#include "cli/commands/trusted_inputs.h"
#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/change/change_source.h"
#include "pipeline/change/git.h"
#include "pipeline/gate/gate.h"
#include "pipeline/hooks/agent_event.h"
#include "pipeline/hooks/commit_hook.h"
#include "pipeline/hooks/proposed_write.h"
#include "pipeline/hooks/shell_command.h"
#include "pipeline/report/reports.h"

// A file under [check] paths is judged as it will be. Of any other file, and of a command, the banned patterns are
// looked for. A command that commits is judged by what is staged now; where it could stage more before it commits, the
// pre-commit hook has to be there, because only that sees what is committed.

namespace guard {
namespace {

namespace fs = std::filesystem;

// An event holds one file; what is larger than this was not meant for a person's project.
constexpr std::uint64_t kEventBytesMax = 64u << 20;
// "Do not" to all agents; they take other statuses for a hook that failed, and most go on then.
constexpr int kDenied = 2;

class Judge {
 public:
  Judge(const Options& options, CommandContext& context) : options_(options), context_(context) {}

  Result<CheckRecord> judge(const AgentEvent& event) {
    const fs::path folder = options_.project.empty() ? fs::path(".") : fs::path(options_.project);
    GUARD_TRY_ASSIGN(root_, Git(folder, context_.cancel).top());
    GUARD_TRY(refuse_inside_tree(options_.config, "--config", root_, context_));
    GUARD_TRY(refuse_inside_tree(options_.rules, "--rules", root_, context_));
    GUARD_TRY_ASSIGN(const ConfigSources sources, config_at(options_.config, root_, {}, context_));
    GUARD_TRY_ASSIGN(request_, prepare_check(sources, options_.rules, context_, session_));
    return masked_check(event.action == AgentAction::command ? of_command(event) : of_file(event), session_);
  }

 private:
  // Where only the banned patterns count, the tiers make no difference.
  std::string plain_mode() const { return options_.mode == "auto" ? "host" : options_.mode; }

  Result<CheckRecord> of_file(const AgentEvent& event) {
    GUARD_TRY_ASSIGN(ProposedWrite proposed, proposed_write(event, root_, request_.config->check.paths));
    if (!proposed.gated) {
      CheckRecord record =
          gate_added(request_, {proposed.path, std::move(proposed.after)}, proposed.before, plain_mode());
      return with(std::move(record), std::move(proposed.findings));
    }
    SourceFiles files;
    files.files.push_back({proposed.path, std::move(proposed.after)});
    files.findings = std::move(proposed.findings);
    return gate(request_, files, options_.mode);
  }

  Result<CheckRecord> of_command(const AgentEvent& event) {
    CheckRecord record = gate_added(request_, {"(command)", event.command}, {}, plain_mode());
    const ShellReading reading = read_shell_command(event.command);
    if (record.error || !reading.commits) return record;
    GUARD_TRY_ASSIGN(const bool ours, is_ours(event.folder));
    if (reading.skips_hooks) {
      return with(std::move(record),
          {finding("policy.hooks_skipped", "a commit that switches the hooks off",
              "commit without --no-verify and its like")});
    }
    if (reading.elsewhere || !ours) {
      return with(std::move(record),
          {finding("policy.commit_elsewhere", "a commit in a folder that guard was not asked to look at",
              "commit in the project's own folder, without -C or --git-dir")});
    }
    if (reading.plain) {
      GUARD_TRY_ASSIGN(CheckRecord staged, of_index());
      if (record.verdict.kind() == VerdictKind::allowed || staged.error) return staged;
      return with(std::move(record), std::move(staged.report.findings));
    }
    GUARD_TRY_ASSIGN(const CommitHook hook, find_commit_hook(root_, context_.cancel));
    if (hook.state == HookState::installed) return record;
    return with(std::move(record),
        {finding("policy.commit_unjudged",
            "a command that may stage more before it commits; no hook of guard's would see that",
            "stage in one command and commit in another, with nothing but `git commit -m ...`; or ask a "
            "person to run `guard hook install`")});
  }

  Result<CheckRecord> of_index() {
    ChangeRequest staged;
    staged.from = ChangeFrom::index;
    GUARD_TRY_ASSIGN(const CollectedChange collected, collect_change(root_, staged, context_.cancel));
    request_.files_expected = false;
    return gate_change(request_, collected.change, std::nullopt, options_.mode);
  }

  // Whether the agent's folder lies in the repository that guard was asked to look at.
  Result<bool> is_ours(const fs::path& folder) const {
    if (folder.empty()) return true;
    GUARD_TRY_ASSIGN(const fs::path top, Git(root_ / folder, context_.cancel).top());
    std::error_code failure;
    return fs::equivalent(top, root_, failure) && !failure;
  }

  static Finding finding(std::string_view rule, std::string_view message, std::string_view fix) {
    Finding finding;
    finding.rule = rule;
    finding.tier = FindingTier::policy;
    finding.path = "(command)";
    finding.message = message;
    finding.fix = fix;
    return finding;
  }

  static CheckRecord with(CheckRecord record, std::vector<Finding> more) {
    if (record.error || more.empty()) return record;
    auto& findings = record.report.findings;
    findings.insert(findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    std::sort(findings.begin(), findings.end());
    record.verdict = verdict_of(record.report, false);
    return record;
  }

  const Options& options_;
  CommandContext& context_;
  fs::path root_;
  CheckSession session_;
  GateRequest request_;
};

int answer(CommandContext& context, AgentForm form, bool allowed, const std::string& reason) {
  context.streams.out.write(agent_answer(form, allowed, reason));
  context.streams.err.write(reason);
  // An answer that could not be written was not given.
  return allowed && context.streams.out.flush() ? 0 : kDenied;
}

int refuse(CommandContext& context, AgentForm form, const Error& error) {
  return answer(context, form, false, "error: " + masked(error).to_string() + "\n");
}

}  // namespace

Result<int> hook_agent(const Options& options, CommandContext& context) {
  const auto bytes = read_all(STDIN_FILENO, kEventBytesMax, "standard input");
  if (!bytes) return refuse(context, AgentForm::claude, bytes.error());
  const auto event = parse_agent_event(*bytes);
  if (!event) return refuse(context, guess_agent_form(*bytes), event.error());
  if (event->action == AgentAction::nothing) return answer(context, event->form, true, {});
  const auto record = Judge(options, context).judge(*event);
  if (!record) return refuse(context, event->form, record.error());
  if (record->verdict.kind() == VerdictKind::allowed) return answer(context, event->form, true, {});
  return answer(context, event->form, false, check_text(*record, Colour::off));
}

}  // namespace guard
