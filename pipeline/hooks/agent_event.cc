#include "pipeline/hooks/agent_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "common/text/foreign_json.h"
#include "common/text/text.h"

namespace guard {
namespace {

using Json = nlohmann::json;

enum class ToolKind : std::uint8_t { reads, writes, edits, edits_many, notebook, runs };

struct ToolRow {
  ToolKind kind;
  std::string_view names;  // a blank on both sides of each
};

// Tools that only read stand here so that a hook for all tools does not stop them; any tool that is not here is
// refused. By agent: Claude Code (VS Code and Copilot use the same names with PreToolUse), Gemini CLI, GitHub Copilot.
constexpr ToolRow kTools[] = {
    {ToolKind::writes, " Write write_file create "},
    {ToolKind::edits, " Edit replace edit "},
    {ToolKind::edits_many, " MultiEdit "},
    {ToolKind::notebook, " NotebookEdit "},
    {ToolKind::runs, " Bash run_shell_command bash "},
    {ToolKind::reads,
        " Read NotebookRead Glob Grep LS WebFetch WebSearch TodoRead TodoWrite Task Agent AskUserQuestion ExitPlanMode"
        " BashOutput KillShell "},
    {ToolKind::reads,
        " read_file read_many_files list_directory glob search_file_content grep_search google_web_search web_fetch"
        " write_todos "},
    {ToolKind::reads, " view grep rg web_search ask_user task update_todo "},
};

// How each agent spells an event, and how it wants to be denied ({} is the reason, as JSON).
struct AgentRow {
  AgentForm form;
  std::string_view event;  // hook_event_name; empty: none is given, and `tool` is there
  const char* tool;        // null: the event itself is a command
  const char* input;
  std::string_view denial;
};
constexpr AgentRow kAgents[] = {
    {AgentForm::gemini, "BeforeTool", "tool_name", "tool_input", R"({"decision":"deny","reason":{}})"},
    {AgentForm::cursor, "beforeShellExecution", nullptr, nullptr,
        R"({"agent_message":{},"permission":"deny","user_message":{}})"},
    {AgentForm::copilot, "", "toolName", "toolArgs", R"({"permissionDecision":"deny","permissionDecisionReason":{}})"},
    {AgentForm::claude, "PreToolUse", "tool_name", "tool_input",
        R"({"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",)"
        R"("permissionDecisionReason":{}}})"},
};

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
  const bool one_word = !event.tool.empty() && event.tool.find(' ') == std::string::npos;
  const auto* row = std::find_if(std::begin(kTools), std::end(kTools), [&](const ToolRow& known) {
    return one_word && known.names.find(" " + event.tool + " ") != std::string_view::npos;
  });
  if (row == std::end(kTools)) {
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
  if (row->kind == ToolKind::notebook) {
    // A cell's text; the notebook around it is data. A cell that is taken away has none.
    if (input.value("edit_mode", Json()) == "delete") return ok();
    event.action = AgentAction::write;
    GUARD_TRY_ASSIGN(event.content, text_of(input, {"new_source"}));
    return ok();
  }
  if (row->kind == ToolKind::writes) {
    event.action = AgentAction::write;
    GUARD_TRY_ASSIGN(event.content, text_of(input, {"content", "file_text"}));
    return ok();
  }
  event.action = AgentAction::edit;
  const Json edits = row->kind == ToolKind::edits ? Json::array({input}) : input.value("edits", Json());
  if (!edits.is_array() || edits.empty()) return not_understood("the event has no \"edits\"");
  for (const auto& one : edits) {
    GUARD_TRY_ASSIGN(TextEdit edit, edit_of(one));
    event.edits.push_back(std::move(edit));
  }
  return ok();
}

std::string word_of(const Json& document, const char* name) {
  const auto found = document.find(name);
  return found != document.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Null: an event that does not come before an action, or one that guard does not know.
const AgentRow* agent_of(const Json& document) {
  const std::string name = word_of(document, "hook_event_name");
  const auto* row = std::find_if(std::begin(kAgents), std::end(kAgents),
      [&](const AgentRow& known) { return name == known.event && (!name.empty() || document.contains(known.tool)); });
  return row == std::end(kAgents) ? nullptr : row;
}

}  // namespace

Result<AgentEvent> parse_agent_event(std::string_view json) {
  const auto parsed = parse_json(json);
  if (!parsed) return not_understood(fmt::format("standard input {}", parsed.error().message()));
  const Json& document = *parsed;
  if (!document.is_object()) return not_understood("standard input is not one JSON object");
  const AgentRow* const agent = agent_of(document);
  if (agent == nullptr) {
    return not_understood(
        fmt::format("guard cannot answer the event \"{}\"", printable(word_of(document, "hook_event_name"))));
  }
  AgentEvent event;
  event.form = agent->form;
  event.folder = word_of(document, "cwd");
  if (agent->tool == nullptr) {
    event.action = AgentAction::command;
    GUARD_TRY_ASSIGN(event.command, text_of(document, {"command"}));
    return event;
  }
  GUARD_TRY_ASSIGN(event.tool, text_of(document, {agent->tool}));
  Json input = document.value(agent->input, Json());
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
  for (const AgentRow& agent : kAgents) {
    const std::string_view word = agent.event.empty() ? agent.tool : agent.event;
    if (json.find(fmt::format("\"{}\"", word)) != std::string_view::npos) return agent.form;
  }
  return AgentForm::claude;
}

std::string agent_answer(AgentForm form, bool allowed, std::string_view reason) {
  if (allowed) return "{}\n";
  const auto* agent =
      std::find_if(std::begin(kAgents), std::end(kAgents), [&](const AgentRow& known) { return known.form == form; });
  const std::string text = Json(reason).dump(-1, ' ', false, Json::error_handler_t::replace);
  return replaced(std::string(agent->denial), "{}", text) + "\n";
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
