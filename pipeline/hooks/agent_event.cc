#include "pipeline/hooks/agent_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/text/foreign_json.h"
#include "common/text/text.h"

namespace guard {
namespace {

using Json = nlohmann::json;

enum class ToolKind : std::uint8_t { reads, writes, edits, edits_many, notebook, runs };

struct ToolRow {
  std::string_view name;
  ToolKind kind;
};

// Tools that only read stand here so that a hook for all tools does not stop them; any tool that is not here is
// refused.
constexpr std::array<ToolRow, 42> kTools = {{
    // Claude Code; VS Code and Copilot use the same names with PreToolUse
    {"Write", ToolKind::writes},
    {"Edit", ToolKind::edits},
    {"MultiEdit", ToolKind::edits_many},
    {"NotebookEdit", ToolKind::notebook},
    {"Bash", ToolKind::runs},
    {"Read", ToolKind::reads},
    {"NotebookRead", ToolKind::reads},
    {"Glob", ToolKind::reads},
    {"Grep", ToolKind::reads},
    {"LS", ToolKind::reads},
    {"WebFetch", ToolKind::reads},
    {"WebSearch", ToolKind::reads},
    {"TodoRead", ToolKind::reads},
    {"TodoWrite", ToolKind::reads},
    {"Task", ToolKind::reads},
    {"Agent", ToolKind::reads},
    {"AskUserQuestion", ToolKind::reads},
    {"ExitPlanMode", ToolKind::reads},
    {"BashOutput", ToolKind::reads},
    {"KillShell", ToolKind::reads},
    // Gemini CLI
    {"write_file", ToolKind::writes},
    {"replace", ToolKind::edits},
    {"run_shell_command", ToolKind::runs},
    {"read_file", ToolKind::reads},
    {"read_many_files", ToolKind::reads},
    {"list_directory", ToolKind::reads},
    {"glob", ToolKind::reads},
    {"search_file_content", ToolKind::reads},
    {"grep_search", ToolKind::reads},
    {"google_web_search", ToolKind::reads},
    {"web_fetch", ToolKind::reads},
    {"write_todos", ToolKind::reads},
    // GitHub Copilot
    {"create", ToolKind::writes},
    {"edit", ToolKind::edits},
    {"bash", ToolKind::runs},
    {"view", ToolKind::reads},
    {"grep", ToolKind::reads},
    {"rg", ToolKind::reads},
    {"web_search", ToolKind::reads},
    {"ask_user", ToolKind::reads},
    {"task", ToolKind::reads},
    {"update_todo", ToolKind::reads},
}};

Error not_understood(std::string sentence) {
  return Error(ErrorCode::input_invalid, std::move(sentence))
      .hint("docs/hooks.md lists the events and tools that guard understands");
}

// The first of `names` that is there; it has to be a string.
Result<std::string> text_of(const Json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found == object.end()) continue;
    if (!found->is_string()) return not_understood(fmt::format("\"{}\" in the event is no text", name));
    return found->get<std::string>();
  }
  return not_understood(fmt::format("the event has no \"{}\"", *names.begin()));
}

Result<bool> truth_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return false;
  if (!found->is_boolean()) return not_understood(fmt::format("\"{}\" in the event is neither true nor false", name));
  return found->get<bool>();
}

Result<TextEdit> edit_of(const Json& object) {
  if (!object.is_object()) return not_understood("an edit in the event is no object");
  TextEdit edit;
  GUARD_TRY_ASSIGN(edit.old_text, text_of(object, {"old_string", "old_str"}));
  GUARD_TRY_ASSIGN(edit.new_text, text_of(object, {"new_string", "new_str"}));
  GUARD_TRY_ASSIGN(const bool all, truth_of(object, "replace_all"));
  GUARD_TRY_ASSIGN(const bool multiple, truth_of(object, "allow_multiple"));
  const auto expected = object.find("expected_replacements");
  edit.all = all || multiple || (expected != object.end() && *expected != 1);
  return edit;
}

Result<std::string> path_of(const Json& input) {
  GUARD_TRY_ASSIGN(std::string path, text_of(input, {"file_path", "path", "notebook_path"}));
  if (path.empty() || path.find('\0') != std::string::npos)
    return not_understood("the event names no file that could be written");
  return path;
}

Result<void> read_tool(const Json& input, AgentEvent& event) {
  const auto* row =
      std::find_if(kTools.begin(), kTools.end(), [&](const ToolRow& known) { return known.name == event.tool; });
  if (row == kTools.end()) {
    return not_understood(
        fmt::format("guard does not know the tool {}, so it cannot tell what it writes", printable(event.tool)));
  }
  if (row->kind == ToolKind::reads) return ok();
  if (!input.is_object()) return not_understood("the tool's input is no object");
  if (row->kind == ToolKind::runs) {
    event.action = AgentAction::command;
    GUARD_TRY_ASSIGN(event.command, text_of(input, {"command"}));
    return ok();
  }
  GUARD_TRY_ASSIGN(event.path, path_of(input));
  if (row->kind == ToolKind::writes) {
    event.action = AgentAction::write;
    GUARD_TRY_ASSIGN(event.content, text_of(input, {"content", "file_text"}));
    return ok();
  }
  if (row->kind == ToolKind::notebook) {
    // A cell's text; the notebook around it is data. A cell that is taken away has none.
    event.action = AgentAction::write;
    if (input.value("edit_mode", Json()) == "delete") {
      event.action = AgentAction::nothing;
      return ok();
    }
    GUARD_TRY_ASSIGN(event.content, text_of(input, {"new_source"}));
    return ok();
  }
  event.action = AgentAction::edit;
  if (row->kind == ToolKind::edits) {
    GUARD_TRY_ASSIGN(TextEdit edit, edit_of(input));
    event.edits.push_back(std::move(edit));
    return ok();
  }
  const auto edits = input.find("edits");
  if (edits == input.end() || !edits->is_array() || edits->empty()) return not_understood("the event has no \"edits\"");
  for (const auto& one : *edits) {
    GUARD_TRY_ASSIGN(TextEdit edit, edit_of(one));
    event.edits.push_back(std::move(edit));
  }
  return ok();
}

std::string word_of(const Json& document, const char* name) {
  const auto found = document.find(name);
  return found != document.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Nothing: an event that does not come before an action, or one that guard does not know.
std::optional<AgentForm> form_of(const Json& document) {
  const std::string name = word_of(document, "hook_event_name");
  if (name == "PreToolUse") return AgentForm::claude;
  if (name == "BeforeTool") return AgentForm::gemini;
  if (name == "beforeShellExecution") return AgentForm::cursor;
  if (name.empty() && document.contains("toolName")) return AgentForm::copilot;
  return std::nullopt;
}

}  // namespace

Result<AgentEvent> parse_agent_event(std::string_view json) {
  const auto parsed = parse_json(json);
  if (!parsed) return not_understood(fmt::format("standard input {}", parsed.error().message()));
  const Json& document = *parsed;
  if (!document.is_object()) return not_understood("standard input is not one JSON object");
  const auto form = form_of(document);
  if (!form) {
    return not_understood(
        fmt::format("guard cannot answer the event \"{}\"", printable(word_of(document, "hook_event_name"))));
  }
  AgentEvent event;
  event.form = *form;
  event.folder = word_of(document, "cwd");
  if (event.form == AgentForm::cursor) {
    event.action = AgentAction::command;
    GUARD_TRY_ASSIGN(event.command, text_of(document, {"command"}));
    return event;
  }
  const bool copilot = event.form == AgentForm::copilot;
  GUARD_TRY_ASSIGN(event.tool, text_of(document, {copilot ? "toolName" : "tool_name"}));
  Json input = document.value(copilot ? "toolArgs" : "tool_input", Json());
  // Copilot hands the arguments on as the model wrote them: as an object, or as the text of one.
  if (input.is_string()) {
    auto arguments = parse_json(input.get_ref<const std::string&>());
    if (!arguments)
      return not_understood(fmt::format("the text of the tool's arguments {}", arguments.error().message()));
    input = std::move(*arguments);
  }
  GUARD_TRY(read_tool(input, event).context("reading the event"));
  return event;
}

AgentForm guess_agent_form(std::string_view json) {
  if (json.find("\"BeforeTool\"") != std::string_view::npos) return AgentForm::gemini;
  if (json.find("\"beforeShellExecution\"") != std::string_view::npos) return AgentForm::cursor;
  if (json.find("\"toolName\"") != std::string_view::npos) return AgentForm::copilot;
  return AgentForm::claude;
}

std::string agent_answer(AgentForm form, bool allowed, std::string_view reason) {
  Json answer = Json::object();
  if (!allowed) {
    switch (form) {
      case AgentForm::claude:
        answer["hookSpecificOutput"] = {
            {"hookEventName", "PreToolUse"}, {"permissionDecision", "deny"}, {"permissionDecisionReason", reason}};
        break;
      case AgentForm::gemini: answer = {{"decision", "deny"}, {"reason", reason}}; break;
      case AgentForm::copilot: answer = {{"permissionDecision", "deny"}, {"permissionDecisionReason", reason}}; break;
      case AgentForm::cursor:
        answer = {{"permission", "deny"}, {"user_message", reason}, {"agent_message", reason}};
        break;
    }
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::string> apply_edits(std::string text, const std::vector<TextEdit>& edits) {
  for (const auto& edit : edits) {
    if (edit.old_text.empty()) {
      if (!text.empty()) return not_understood("an edit without a text to be replaced, in a file that is not empty");
      text = edit.new_text;
      continue;
    }
    // Agents show files with line feeds alone, and match so.
    if (text.find(edit.old_text) == std::string::npos) {
      std::string plain;
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') plain += text[i];
      }
      text = std::move(plain);
    }
    std::string result;
    std::size_t at = 0;
    std::size_t count = 0;
    for (std::size_t found; (found = text.find(edit.old_text, at)) != std::string::npos;
         at = found + edit.old_text.size()) {
      result.append(text, at, found - at).append(edit.new_text);
      ++count;
    }
    if (count == 0)
      return not_understood("the text to be replaced is not in the file, so guard cannot tell what the file will be");
    if (count > 1 && !edit.all)
      return not_understood(fmt::format("the text to be replaced is in the file {} times", count));
    result.append(text, at, std::string::npos);
    text = std::move(result);
  }
  return text;
}

}  // namespace guard
