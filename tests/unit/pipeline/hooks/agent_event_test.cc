#include "pipeline/hooks/agent_event.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

TEST(AgentEvent, ClaudeCodesToolsAreUnderstood) {
  const auto write = parse_agent_event(
      R"({"hook_event_name":"PreToolUse","cwd":"/p","tool_name":"Write","tool_input":{"file_path":"/p/a.ts","content":"x"}})");
  ASSERT_TRUE(write);
  EXPECT_EQ(write->form, AgentForm::claude);
  EXPECT_EQ(write->action, AgentAction::write);
  EXPECT_EQ(write->path, "/p/a.ts");
  EXPECT_EQ(write->content, "x");
  EXPECT_EQ(write->folder, "/p");
  const auto many = parse_agent_event(
      R"({"hook_event_name":"PreToolUse","tool_name":"MultiEdit","tool_input":{"file_path":"a.ts","edits":[{"old_string":"a","new_string":"b","replace_all":true},{"old_string":"c","new_string":""}]}})");
  ASSERT_TRUE(many);
  ASSERT_EQ(many->edits.size(), 2u);
  EXPECT_TRUE(many->edits[0].all);
  EXPECT_FALSE(many->edits[1].all);
  const auto read =
      parse_agent_event(R"({"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a.ts"}})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->action, AgentAction::nothing);
}

TEST(AgentEvent, GeminiCopilotAndCursorAreUnderstood) {
  const auto gemini = parse_agent_event(
      R"({"hook_event_name":"BeforeTool","tool_name":"replace","tool_input":{"file_path":"a.ts","old_string":"a","new_string":"b","expected_replacements":2}})");
  ASSERT_TRUE(gemini);
  EXPECT_EQ(gemini->form, AgentForm::gemini);
  EXPECT_TRUE(gemini->edits.at(0).all);
  for (const char* arguments : {R"({"command":"git commit"})", R"("{\"command\":\"git commit\"}")"}) {
    const auto copilot =
        parse_agent_event(std::string(R"({"timestamp":1,"cwd":"/p","toolName":"bash","toolArgs":)") + arguments + "}");
    ASSERT_TRUE(copilot) << arguments;
    EXPECT_EQ(copilot->form, AgentForm::copilot);
    EXPECT_EQ(copilot->command, "git commit");
  }
  const auto cursor =
      parse_agent_event(R"({"hook_event_name":"beforeShellExecution","command":"git commit","cwd":"/p"})");
  ASSERT_TRUE(cursor);
  EXPECT_EQ(cursor->form, AgentForm::cursor);
  EXPECT_EQ(cursor->command, "git commit");
}

TEST(AgentEvent, WhatIsNotUnderstoodIsAnError) {
  for (const char* event :
      {"", "null", "[]", "{}", "{", "\"x\"", "{} {}",
          R"({"hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{"file_path":"a","content":"x"}})",
          R"({"hook_event_name":"PreToolUse"})", R"({"hook_event_name":"PreToolUse","tool_name":7})",
          R"({"hook_event_name":"PreToolUse","tool_name":"Write"})",
          R"({"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a"}})",
          R"({"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"content":"a"}})",
          R"({"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a","content":7}})",
          R"({"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"","content":"x"}})",
          R"({"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a\u0000b","content":"x"}})",
          R"({"hook_event_name":"PreToolUse","tool_name":"mcp__files__save","tool_input":{"path":"a","data":"x"}})",
          R"({"hook_event_name":"PreToolUse","tool_name":"MultiEdit","tool_input":{"file_path":"a","edits":[]}})",
          R"({"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"a","patch":"x"}})",
          R"({"toolName":"bash","toolArgs":"not json"})", R"({"hook_event_name":"beforeShellExecution"})",
          "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"a\",\"content\":"
          "\"\xff\"}}"}) {
    EXPECT_FALSE(parse_agent_event(event)) << event;
  }
}

TEST(AgentEvent, NothingIsApprovedAndDenialsTakeTheCallersForm) {
  for (const auto form : {AgentForm::claude, AgentForm::gemini, AgentForm::copilot, AgentForm::cursor})
    EXPECT_EQ(agent_answer(form, true, ""), "{}\n");
  EXPECT_EQ(agent_answer(AgentForm::gemini, false, "no"), "{\"decision\":\"deny\",\"reason\":\"no\"}\n");
  EXPECT_NE(agent_answer(AgentForm::claude, false, "no").find("\"permissionDecision\":\"deny\""), std::string::npos);
  EXPECT_NE(agent_answer(AgentForm::copilot, false, "no").find("\"permissionDecision\":\"deny\""), std::string::npos);
  EXPECT_NE(agent_answer(AgentForm::cursor, false, "\xff").find("\"permission\":\"deny\""), std::string::npos);
}

TEST(AgentEvent, EditsAreAppliedAsTheAgentWould) {
  EXPECT_EQ(apply_edits("a b a", {{"b", "c", false}}).value(), "a c a");
  EXPECT_EQ(apply_edits("a b a", {{"a", "aa", true}}).value(), "aa b aa");
  EXPECT_EQ(apply_edits("", {{"", "new", false}, {"n", "N", false}}).value(), "New");
  EXPECT_EQ(apply_edits("one\r\ntwo\r\n", {{"one\ntwo", "x", false}}).value(), "x\n");
  EXPECT_FALSE(apply_edits("a b a", {{"a", "c", false}}));
  EXPECT_FALSE(apply_edits("a b a", {{"d", "c", false}}));
  EXPECT_FALSE(apply_edits("a b a", {{"", "c", false}}));
}

}  // namespace
}  // namespace guard
