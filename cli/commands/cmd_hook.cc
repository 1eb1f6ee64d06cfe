// `guard hook install|uninstall|status`: the pre-commit hook of a repository. `guard hook agent` is in hook_agent.cc.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/commands/commands.h"
#include "cli/commands/hook_agent.h"
#include "common/text/text.h"
#include "pipeline/hooks/commit_hook.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

std::string status_text(const CommitHook& hook) {
  std::string text = fmt::format("{}: {}\n", to_string(hook.state), printable(hook.path.native()));
  if (!hook.why.empty()) text += fmt::format("  {}\n", hook.why);
  constexpr std::string_view kNext[] = {"  next: guard hook install\n", "",
      "  next: `guard hook install` writes it anew\n",
      "  next: let that hook call `guard check --staged`, and fail where it fails\n"};
  return text.append(kNext[static_cast<std::size_t>(hook.state)]);
}

void report(const CommitHook& hook, std::string_view sentence, OutputFormat format, CommandContext& context) {
  if (format == OutputFormat::json) {
    const nlohmann::ordered_json document = {{"version", 1}, {"state", to_string(hook.state)},
        {"path", printable(hook.path.native())}, {"why", printable(hook.why)}, {"shared", hook.shared}};
    context.streams.out.write(document.dump(2) + "\n");
    return;
  }
  context.streams.out.write(sentence);
  if (hook.shared) {
    context.streams.out.print(
        "  {} is outside of this repository (core.hooksPath): whatever is in it holds for every repository that uses "
        "it\n",
        printable(hook.path.parent_path().native()));
  }
}

Result<int> run_hook(const Options& options, CommandContext& context) {
  const fs::path folder = options.project.empty() ? fs::path(".") : fs::path(options.project);
  if (options.action == Action::status) {
    GUARD_TRY_ASSIGN(const CommitHook hook, find_commit_hook(folder, context.cancel));
    report(hook, status_text(hook), options.format, context);
    return hook.state == HookState::installed ? 0 : 1;
  }
  if (options.action == Action::uninstall) {
    GUARD_TRY_ASSIGN(const CommitHook hook, uninstall_commit_hook(folder, context.cancel));
    report(hook, fmt::format("no hook of guard's is at {}\n", printable(hook.path.native())), options.format, context);
    return 0;
  }
  GUARD_TRY_ASSIGN(const fs::path program, own_program());
  GUARD_TRY_ASSIGN(const CommitHook hook, install_commit_hook(folder, program, context.cancel));
  report(hook,
      fmt::format("installed: {}\n  every commit is judged by {} check --staged\n", printable(hook.path.native()),
          printable(program.native())),
      options.format, context);
  return 0;
}

}  // namespace

Result<int> cmd_hook(const Options& options, CommandContext& context) {
  if (!options.agent.empty()) return hook_agent_install(options, context);
  if (options.action == Action::agent) return hook_agent(options, context);
  return run_hook(options, context);
}

}  // namespace guard
