#include "cli/commands/hook_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/rule_engine.h"
#include "cli/commands/trusted_inputs.h"
#include "common/file_io.h"
#include "common/text/foreign_json.h"
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

constexpr std::uint64_t kFileMax = 4u << 20;
constexpr std::string_view kBegin =
    "<!-- guard brief: `guard hook agent --install` replaces what is between these lines -->\n";
constexpr std::string_view kEnd = "<!-- end of guard brief -->\n";

struct Edit {
  fs::path path;
  std::string before;
  std::string after;
};

// Empty where there is no such file. A link is not followed: what it points to belongs to somebody else.
Result<std::string> text_of(const fs::path& path) {
  auto text = read_file(path, kFileMax, FollowLinks::no);
  if (!text && text.error().code() == ErrorCode::file_not_found) return std::string();
  return text;
}

Result<std::string> with_hook(const AgentRow& agent, const fs::path& path, const std::string& before) {
  const auto refused = [&](std::string_view why) {
    return Error(ErrorCode::input_invalid, fmt::format("{} {}", printable(path.native()), why))
        .hint("put the settings of docs/hooks.md into it by hand");
  };
  Json settings = Json::object();
  if (!before.empty()) {
    // A second look at the text keeps the order of its keys.
    const auto sound = parse_json(before, RepeatedKeys::refused);
    if (!sound) return refused(sound.error().message());
    settings = Json::parse(before, nullptr, false);
  }
  if (!settings.is_object()) return refused("is no JSON object");
  if (agent.versioned && !settings.contains("version")) settings["version"] = 1;
  Json& hooks = settings["hooks"];
  if (hooks.is_null()) hooks = Json::object();
  if (!hooks.is_object()) return refused("has \"hooks\" that are no object");
  Json& list = hooks[std::string(agent.event)];
  if (list.is_null()) list = Json::array();
  if (!list.is_array()) return refused(fmt::format("has \"{}\" that is no list", agent.event));
  const Json entry = Json::parse(agent.entry);
  if (std::find(list.begin(), list.end(), entry) != list.end()) return before;
  list.push_back(entry);
  return settings.dump(2) + "\n";
}

Result<std::string> with_brief(const fs::path& path, const std::string& before, const std::string& brief) {
  const std::string block = std::string(kBegin) + brief + std::string(kEnd);
  const std::size_t begin = before.find(kBegin);
  if (begin == std::string::npos) return before + (before.empty() ? "" : before.back() == '\n' ? "\n" : "\n\n") + block;
  const std::size_t end = before.find(kEnd, begin);
  if (end == std::string::npos) {
    return Error(ErrorCode::input_invalid, fmt::format("{}: the brief has no end", printable(path.native())))
        .hint(fmt::format("remove the line {}", kBegin));
  }
  return before.substr(0, begin) + block + before.substr(end + kEnd.size());
}

// All that lies between the first and the last line that differ, with some lines around it.
void print_edit(const Edit& edit, OutStream& out) {
  constexpr std::size_t kAround = 3;
  const auto before = pieces_of(edit.before);
  const auto after = pieces_of(edit.after);
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t same = 0;
  while (same < shorter && before[same] == after[same]) ++same;
  std::size_t tail = 0;
  while (tail < shorter - same && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  out.print("{} {}\n", edit.before.empty() ? "new file:" : "changed: ", printable(edit.path.native()));
  const auto print = [&](char mark, std::span<const std::string_view> lines) {
    for (const auto line : lines) out.print("{} {}\n", mark, printable(line));
  };
  const std::span<const std::string_view> olds(before);
  const std::span<const std::string_view> news(after);
  const std::size_t from = same > kAround ? same - kAround : 0;
  print(' ', olds.subspan(from, same - from));
  print('-', olds.subspan(same, before.size() - same - tail));
  print('+', news.subspan(same, after.size() - same - tail));
  print(' ', olds.subspan(before.size() - tail, std::min(tail, kAround)));
}

}  // namespace

Result<int> hook_agent_install(const Options& options, CommandContext& context) {
  const auto* agent = std::find_if(
      std::begin(kAgents), std::end(kAgents), [&](const AgentRow& row) { return row.name == options.agent; });
  if (agent == std::end(kAgents)) return Error(ErrorCode::internal, "an agent without a row");
  GUARD_TRY_ASSIGN(const fs::path project, project_folder(options.project));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(config_of(options.config, project, context)));
  GUARD_TRY_ASSIGN(const RuleEngine engine, load_rule_engine(options.rules));
  Edit settings{project / agent->settings, {}, {}};
  GUARD_TRY_ASSIGN(settings.before, text_of(settings.path));
  GUARD_TRY_ASSIGN(settings.after, with_hook(*agent, settings.path, settings.before));
  Edit brief{project / agent->instructions, {}, {}};
  GUARD_TRY_ASSIGN(brief.before, text_of(brief.path));
  GUARD_TRY_ASSIGN(
      brief.after, with_brief(brief.path, brief.before, brief_text({project, &loaded.config, engine.rules})));
  OutStream& out = context.streams.out;
  bool open = false;
  for (const Edit* edit : {&settings, &brief}) {
    if (edit->after == edit->before) {
      out.print("up to date: {}\n", printable(edit->path.native()));
      continue;
    }
    print_edit(*edit, out);
    if (!options.yes) {
      open = true;
      continue;
    }
    GUARD_TRY(make_folders(edit->path.parent_path()));
    GUARD_TRY(write_file_atomically(edit->path, edit->after));
    out.print("written: {}\n", printable(edit->path.native()));
  }
  if (open) out.print("next:    repeat the command with --yes to write this\n");
  return open ? 1 : 0;
}

}  // namespace guard
