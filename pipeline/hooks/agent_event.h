// One event that a coding agent hands to a hook before it acts, and the answer in the agent's own form.
//
// The forms are those that the agents document: Claude Code and VS Code (PreToolUse), Gemini CLI (BeforeTool), GitHub
// Copilot (preToolUse), Cursor (beforeShellExecution). What is not known is an error and never "nothing happens".
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace guard {

enum class AgentForm : std::uint8_t { claude, gemini, copilot, cursor };

enum class AgentAction : std::uint8_t {
  nothing,  // a tool that only reads
  write,    // `content` becomes the file
  edit,     // `edits`, one after the other, in the file as it is
  command,  // a line of shell
};

struct TextEdit {
  std::string old_text;  // empty: the file is made from `new_text`
  std::string new_text;
  bool all = false;  // every occurrence; else there must be one
};

struct AgentEvent {
  AgentForm form = AgentForm::claude;
  AgentAction action = AgentAction::nothing;
  std::string tool;
  std::filesystem::path folder;  // the agent's current folder; may be empty
  std::string path;              // of write and edit, as given
  std::string content;
  std::vector<TextEdit> edits;
  std::string command;
};

// INPUT_INVALID for anything but a whole event of a known kind.
Result<AgentEvent> parse_agent_event(std::string_view json);

// The form to answer in when the event could not be read: by the few words of it that tell, else Claude Code's.
AgentForm guess_agent_form(std::string_view json);

// For standard output. An allowed action is never "approved": the agent's own questions to its user still stand.
std::string agent_answer(AgentForm form, bool allowed, std::string_view reason);

// The file after the edits. INPUT_INVALID where a text to be replaced is not there, or stands there more than once.
Result<std::string> apply_edits(std::string text, const std::vector<TextEdit>& edits);

}  // namespace guard
