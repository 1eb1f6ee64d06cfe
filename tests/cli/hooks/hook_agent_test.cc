// `guard hook agent`: events as the agents document them, through the settings that docs/hooks.md gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/program/git_repository.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kHonest =
    "import { expect, test } from \"bun:test\";\ntest(\"adds\", () => { expect(1 + 1).toBe(2); });\n";
constexpr std::string_view kDump = "console.log(JSON.stringify(process.env));\n";

json claude(const std::string& tool, json input) {
  return {{"session_id", "abc123"}, {"transcript_path", "/home/x/t.jsonl"}, {"permission_mode", "default"},
      {"hook_event_name", "PreToolUse"}, {"tool_name", tool}, {"tool_input", std::move(input)},
      {"tool_use_id", "toolu_01ABC123"}};
}

class AgentHook : public ::testing::Test {
 protected:
  ProgramResult ask(const json& event, const fs::path& folder = {}) const {
    return repository_.guard({"hook", "agent"}, folder, event.dump());
  }
  std::string at(const std::string& relative) const { return (repository_.path() / relative).string(); }
  json write(const std::string& path, std::string_view content) const {
    return claude("Write", {{"file_path", path}, {"content", content}});
  }
  json shell(const std::string& command) const {
    json event = claude("Bash", {{"command", command}, {"description", "x"}});
    event["cwd"] = repository_.path().string();
    return event;
  }
  void expect_allowed(const json& event, const fs::path& folder = {}) const {
    const auto done = ask(event, folder);
    EXPECT_EQ(done.exit_status, 0) << event << done.err;
    EXPECT_EQ(done.out, "{}\n") << event;
  }
  std::string expect_denied(const json& event, const std::string& word, const fs::path& folder = {}) const {
    const auto done = ask(event, folder);
    EXPECT_EQ(done.exit_status, 2) << event;
    EXPECT_THAT(done.err, HasSubstr(word)) << event;
    EXPECT_TRUE(done.document().is_object());
    return done.err;
  }
  Repository repository_;
};

TEST_F(AgentHook, JudgesAFileBeforeItIsWritten) {
  expect_allowed(write(at("sandbox/a.test.ts"), kHonest));
  expect_denied(write(at("sandbox/a.test.ts"), kDump), "sandbox/a.test.ts:1:");
  expect_denied(write("sandbox/a.test.ts", kDump), "sandbox/a.test.ts:1:");
  // Whatever folder the agent stands in, and by whatever name.
  json event = write("../sandbox/a.test.ts", kDump);
  event["cwd"] = at("src");
  expect_denied(event, "sandbox/a.test.ts:1:");
  expect_denied(write(at("src/../sandbox/./a.test.ts"), kDump), "sandbox/a.test.ts:1:", repository_.path() / "src");
  repository_.must("ln -s sandbox tests");
  expect_denied(write(at("tests/a.test.ts"), kDump), "always");
  // Nothing was written by us.
  EXPECT_FALSE(fs::exists(at("sandbox/a.test.ts")));
}

TEST_F(AgentHook, OutsideOfTheGatedPathsOnlyKeysCount) {
  expect_allowed(write(at("src/b.ts"), kDump));
  const auto words = expect_denied(write(at("src/b.ts"), "const k = \"" + made_up_key() + "\";"), "src/b.ts:1:");
  EXPECT_EQ(words.find("QQQQQQ"), std::string::npos) << "the key itself was shown";
  // What the file held before is not the agent's doing.
  repository_.write("src/old.ts", "const k = \"" + made_up_key() + "\";\nconst one = 1;\n");
  expect_allowed(claude("Edit",
      {{"file_path", at("src/old.ts")}, {"old_string", "one = 1"}, {"new_string", "one = 2"}, {"replace_all", false}}));
  expect_denied(write("/elsewhere/notes.md", made_up_key()), "notes.md");
}

TEST_F(AgentHook, EditsAreJudgedInTheFileThatTheyMake) {
  repository_.write("sandbox/a.test.ts", "console.log(JSON.stringify(everything));\n");
  expect_denied(
      claude("Edit",
          {{"file_path", at("sandbox/a.test.ts")}, {"old_string", "everything"}, {"new_string", "process.env"}}),
      "sandbox/a.test.ts:1:");
  expect_denied(claude("MultiEdit",
                    {{"file_path", at("sandbox/a.test.ts")},
                        {"edits",
                            {{{"old_string", "everything"}, {"new_string", "process.all"}},
                                {{"old_string", ".all"}, {"new_string", ".env"}}}}}),
      "sandbox/a.test.ts:1:");
  expect_allowed(
      claude("Edit", {{"file_path", at("sandbox/a.test.ts")}, {"old_string", "everything"}, {"new_string", "1"}}));
  expect_denied(
      claude("Edit", {{"file_path", at("sandbox/a.test.ts")}, {"old_string", "not there"}, {"new_string", "1"}}),
      "not in the file");
  expect_denied(
      claude("NotebookEdit", {{"notebook_path", at("n.ipynb")}, {"new_source", made_up_key()}, {"cell_id", "1"}}),
      "n.ipynb");
}

TEST_F(AgentHook, WhatSaysHowGuardJudgesMayNotBeWritten) {
  for (const char* path : {"guard.toml", "pkg/Guard.toml", "bunfig.toml", ".git/hooks/pre-commit", ".git/config",
           ".claude/settings.json", ".claude/settings.local.json", ".gemini/settings.json", ".cursor/hooks.json",
           ".github/hooks/guard.json", ".pre-commit-config.yaml"}) {
    expect_denied(write(at(path), "x = 1\n"), "policy.");
  }
  repository_.must("ln -s guard.toml innocent.txt; ln -s .git/hooks tools");
  expect_denied(write(at("innocent.txt"), "x = 1\n"), "policy.configuration_changed");
  expect_denied(write(at("tools/pre-commit"), "exit 0\n"), "policy.hook_changed");
  expect_allowed(write(at(".github/workflows/x.yml"), "on: push\n"));
}

// What lies on disk was perhaps written by the agent.
TEST_F(AgentHook, ConfigurationIsReadFromTheLastCommit) {
  repository_.write("guard.toml", "[check]\npaths = [\"elsewhere/**\"]\n");
  expect_denied(write(at("sandbox/a.test.ts"), kDump), "sandbox/a.test.ts:1:");
  repository_.must(
      "git init -q sandbox/inner; echo '[check]' > sandbox/inner/guard.toml; cd sandbox/inner; git add -A; git commit "
      "-q -m own");
  expect_denied(write(at("sandbox/inner/a.test.ts"), kDump), "sandbox/inner/a.test.ts:1:");
  repository_.write("mine.toml", "");
  const auto named =
      repository_.guard({"hook", "agent", "--config", "mine.toml"}, {}, write(at("sandbox/a.test.ts"), kHonest).dump());
  EXPECT_EQ(named.exit_status, 2);
}

TEST_F(AgentHook, CommitIsJudgedByWhatIsStaged) {
  expect_allowed(shell("ls -la"));
  repository_.write("sandbox/a.test.ts", kDump);
  repository_.must("git add -A");
  expect_denied(shell("git commit -m 'add a test'"), "sandbox/a.test.ts:1:");
  repository_.write("sandbox/a.test.ts", kHonest);
  repository_.must("git add -A");
  expect_allowed(shell("git commit -m 'add a test'"));
  expect_denied(shell("git commit --no-verify -m x"), "policy.hooks_skipped");
  expect_denied(shell("git -C /elsewhere commit -m x"), "policy.commit_elsewhere");
  expect_denied(shell("echo " + made_up_key() + " >> .env"), "banned");
}

TEST_F(AgentHook, CommandThatStagesAndCommitsNeedsTheCommitHook) {
  expect_denied(shell("git add -A && git commit -m x"), "policy.commit_unjudged");
  expect_denied(shell("git commit -am x"), "policy.commit_unjudged");
  ASSERT_EQ(repository_.guard({"hook", "install"}).exit_status, 0);
  expect_allowed(shell("git add -A && git commit -m x"));
  expect_denied(shell("git add -A && git commit -n -m x"), "policy.hooks_skipped");
  repository_.must("chmod -x .git/hooks/pre-commit");
  expect_denied(shell("git add -A && git commit -m x"), "policy.commit_unjudged");
}

TEST_F(AgentHook, WhateverItDoesNotUnderstandIsDenied) {
  for (const std::string text : {"", "{", "null", "{\"hook_event_name\":\"PreToolUse\"}", "\xff\xfe"}) {
    const auto done = repository_.guard({"hook", "agent"}, {}, text);
    EXPECT_EQ(done.exit_status, 2) << text;
    EXPECT_THAT(done.out, HasSubstr("deny"));
    EXPECT_THAT(done.err, ::testing::Not(IsEmpty()));
  }
  expect_denied(claude("mcp__files__write", {{"path", "a"}}), "does not know the tool");
  // Without a repository there is no configuration that the agent could not have written.
  expect_denied(write("a.ts", kHonest), "not a git repository", repository_.home());
}

// ---- the settings in docs/hooks.md ----

// The first ```json block below the heading.
json settings_in_document(const std::string& heading) {
  const auto text = read_file(GUARD_SOURCE_DIR "/docs/hooks.md", 1u << 20);
  if (!text) return nullptr;
  const std::size_t section = text->find("\n### " + heading + "\n");
  const std::size_t begin = text->find("```json\n", section == std::string::npos ? text->size() : section);
  const std::size_t end = text->find("\n```", begin);
  if (begin == std::string::npos || end == std::string::npos) return nullptr;
  return json::parse(text->substr(begin + 8, end - begin - 8), nullptr, false);
}

void collect_commands(const json& value, std::vector<std::string>& commands) {
  if (value.is_structured()) {
    for (const auto& [key, inner] : value.items()) {
      if (inner.is_string() && (key == "command" || key == "bash")) commands.push_back(inner.get<std::string>());
      collect_commands(inner, commands);
    }
  }
}

struct DocumentedAgent {
  std::string heading;
  json good;
  json bad;
  std::string told;  // JSON pointer to the reason in the answer
};

class DocumentedHook : public AgentHook {
 protected:
  void try_out(const DocumentedAgent& agent) {
    std::vector<std::string> commands;
    collect_commands(settings_in_document(agent.heading), commands);
    ASSERT_FALSE(commands.empty()) << "no settings for " << agent.heading;
    repository_.must("mkdir $HOME/bin && ln -s '" GUARD_PROGRAM "' $HOME/bin/guard");
    for (const auto& command : commands) {
      repository_.write("good.json", agent.good.dump());
      repository_.write("bad.json", agent.bad.dump());
      const auto run = [&](const std::string& event, const std::string& path) {
        return repository_.shell("( " + command + " ) < " + event, {},
            {{"PATH", path}, {"CLAUDE_PROJECT_DIR", repository_.path().string()},
                {"GEMINI_PROJECT_DIR", repository_.path().string()}});
      };
      const std::string path = (repository_.home() / "bin").string() + ":/usr/bin:/bin";
      const auto good = run("good.json", path);
      EXPECT_EQ(good.exit_status, 0) << command << good.err;
      EXPECT_EQ(good.out, "{}\n");
      const auto bad = run("bad.json", path);
      EXPECT_EQ(bad.exit_status, 2) << command << bad.err;
      EXPECT_THAT(bad.document().value(json::json_pointer(agent.told), ""), HasSubstr("sandbox/a.test.ts:1:"));
      EXPECT_THAT(bad.err, HasSubstr("sandbox/a.test.ts:1:"));
      // No guard, no pass: these agents take most statuses for "go on".
      EXPECT_EQ(run("good.json", "/usr/bin:/bin").exit_status, 2) << command;
    }
  }
};

TEST_F(DocumentedHook, ClaudeCode) {
  try_out({"Claude Code", write(at("sandbox/a.test.ts"), kHonest), write(at("sandbox/a.test.ts"), kDump),
      "/hookSpecificOutput/permissionDecisionReason"});
}

TEST_F(DocumentedHook, GeminiCli) {
  const auto event = [&](std::string_view content) {
    return json{{"session_id", "s"}, {"transcript_path", "/t"}, {"cwd", at("")}, {"hook_event_name", "BeforeTool"},
        {"timestamp", "2026-01-01T00:00:00Z"}, {"tool_name", "write_file"},
        {"tool_input", {{"file_path", at("sandbox/a.test.ts")}, {"content", content}}}};
  };
  try_out({"Gemini CLI", event(kHonest), event(kDump), "/reason"});
}

TEST_F(DocumentedHook, GitHubCopilot) {
  const auto event = [&](std::string_view content) {
    return json{{"sessionId", "s"}, {"timestamp", 1704614600000}, {"cwd", at("")}, {"toolName", "create"},
        {"toolArgs", json{{"path", at("sandbox/a.test.ts")}, {"file_text", content}}.dump()}};
  };
  try_out({"GitHub Copilot", event(kHonest), event(kDump), "/permissionDecisionReason"});
}

TEST_F(DocumentedHook, Cursor) {
  const auto event = [&](const std::string& command) {
    return json{{"conversation_id", "c"}, {"generation_id", "g"}, {"hook_event_name", "beforeShellExecution"},
        {"workspace_roots", {at("")}}, {"command", command}, {"cwd", at("")}};
  };
  repository_.write("sandbox/a.test.ts", kDump);
  repository_.must("git add -A");
  try_out({"Cursor", event("ls"), event("git commit -m x"), "/agent_message"});
}

}  // namespace
}  // namespace guard::testing
