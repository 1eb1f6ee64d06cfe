#include "cli/commands/hook_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/rule_engine.h"
#include "cli/commands/trusted_inputs.h"
#include "cli/settings_edit.h"
#include "common/text/text.h"
#include "pipeline/report/brief.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct AgentRow {
  std::string_view name;
  std::string_view settings;
  std::string_view event;
  std::string_view entry;  // of the event's list
  bool versioned;
  std::string_view instructions;
};

// docs/hooks.md has where each of them is described.
constexpr AgentRow kAgents[] = {
    {"claude", ".claude/settings.json", "PreToolUse",
        R"({"matcher": "Write|Edit|MultiEdit|NotebookEdit|Bash", "hooks": )"
        R"([{"type": "command", "command": "guard hook agent --project \"$CLAUDE_PROJECT_DIR\" || exit 2"}]})",
        false, "CLAUDE.md"},
    {"gemini", ".gemini/settings.json", "BeforeTool",
        R"({"matcher": "write_file|replace|run_shell_command", "hooks": )"
        R"([{"type": "command", "name": "guard", "command": "guard hook agent || exit 2"}]})",
        false, "GEMINI.md"},
    {"copilot", ".github/hooks/guard.json", "preToolUse",
        R"({"type": "command", "matcher": "bash|create|edit", "bash": "guard hook agent || exit 2", "timeoutSec": 30})",
        true, "AGENTS.md"},
    {"cursor", ".cursor/hooks.json", "beforeShellExecution", R"({"command": "guard hook agent || exit 2"})", true,
        "AGENTS.md"},
};

constexpr std::string_view kBegin =
    "<!-- guard brief: `guard hook agent --install` replaces what is between these lines -->\n";
constexpr std::string_view kEnd = "<!-- end of guard brief -->\n";

Result<std::string> with_hook(const AgentRow& agent, const FileEdit& edit) {
  constexpr std::string_view kByHand = "put the settings of docs/hooks.md into it by hand";
  const auto refused = [&](std::string_view why) {
    return Error(ErrorCode::input_invalid, fmt::format("{} {}", printable(edit.path.native()), why))
        .hint(std::string(kByHand));
  };
  GUARD_TRY_ASSIGN(Json settings, settings_in(edit, kByHand));
  if (agent.versioned && !settings.contains("version")) settings["version"] = 1;
  Json& hooks = settings["hooks"];
  if (hooks.is_null()) hooks = Json::object();
  if (!hooks.is_object()) return refused("has \"hooks\" that are no object");
  Json& list = hooks[std::string(agent.event)];
  if (list.is_null()) list = Json::array();
  if (!list.is_array()) return refused(fmt::format("has \"{}\" that is no list", agent.event));
  const Json entry = Json::parse(agent.entry);
  if (std::find(list.begin(), list.end(), entry) != list.end()) return edit.before;
  list.push_back(entry);
  return settings_text(settings);
}

Result<std::string> with_brief(const FileEdit& edit, const std::string& brief) {
  const std::string& before = edit.before;
  const std::string block = std::string(kBegin) + brief + std::string(kEnd);
  const std::size_t begin = before.find(kBegin);
  if (begin == std::string::npos) return before + (before.empty() ? "" : before.back() == '\n' ? "\n" : "\n\n") + block;
  const std::size_t end = before.find(kEnd, begin);
  if (end == std::string::npos) {
    return Error(ErrorCode::input_invalid, fmt::format("{}: the brief has no end", printable(edit.path.native())))
        .hint(fmt::format("remove the line {}", kBegin));
  }
  return before.substr(0, begin) + block + before.substr(end + kEnd.size());
}

}  // namespace

Result<int> hook_agent_install(const Options& options, CommandContext& context) {
  const auto* agent = std::find_if(
      std::begin(kAgents), std::end(kAgents), [&](const AgentRow& row) { return row.name == options.agent; });
  if (agent == std::end(kAgents)) return Error(ErrorCode::internal, "an agent without a row");
  GUARD_TRY_ASSIGN(const fs::path project, project_folder(options.project));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(config_of(options.config, project, context)));
  GUARD_TRY_ASSIGN(const RuleEngine engine, load_rule_engine(options.rules));
  GUARD_TRY_ASSIGN(FileEdit settings, begin_edit(project, agent->settings));
  GUARD_TRY_ASSIGN(settings.after, with_hook(*agent, settings));
  GUARD_TRY_ASSIGN(FileEdit brief, begin_edit(project, agent->instructions));
  GUARD_TRY_ASSIGN(brief.after, with_brief(brief, brief_text({project, &loaded.config, engine.rules})));
  return finish_edits(std::vector{settings, brief}, options.yes, context.streams.out);
}

}  // namespace guard
