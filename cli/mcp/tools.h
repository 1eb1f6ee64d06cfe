// guard's tools for agents: what cli/mcp/tools.json lists, done. Whatever a tool answers is masked, errors and names of
// files included; output is capped.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/mcp/connection.h"
#include "cli/mcp/session_access.h"
#include "redact/kinds/secret_source.h"
#include "serve/metrics.h"

namespace guard::mcp {

// Thread-safe.
class Tools {
 public:
  // All outlive it; null: nothing is counted. CONFIG_INVALID.
  static Result<std::unique_ptr<Tools>> create(
      const Options& options, CommandContext& context, serve::Counts* counts = nullptr);

  const std::vector<Tool>& tools() const { return tools_; }

  // The session of a client that names none: one that nobody else has.
  Result<std::string> new_session() const;
  Result<void> close(const std::string& session) { return sessions_.close(session); }

 private:
  struct Settings {
    std::filesystem::path project;
    std::map<std::string, std::string> variables;  // of [run.env]
    std::uint64_t keep_bytes = 0;                  // of output
    SecretSource secrets;
    serve::Counts* counts = nullptr;
  };
  Tools(const Options& options, CommandContext& context, Settings settings);

  // Those of the sandbox (cli/mcp/sandbox_tools.cc).
  struct InSession {
    const ToolCall& call;
    const StartTask& start;
  };
  Result<ToolResult> shell(const InSession& in);
  Result<ToolResult> python(const InSession& in);
  Result<ToolResult> list(const InSession& in);
  Result<ToolResult> read(const InSession& in);
  Result<ToolResult> write(const InSession& in);
  Result<ToolResult> command(const InSession& in, TaskSpec spec, std::string_view input);
  Result<std::string> small_output(const InSession& in, std::vector<std::string> argv);
  Result<ToolResult> in_session(Result<ToolResult> (Tools::*work)(const InSession&), const ToolCall& call);

  // Those that ask guard (cli/mcp/gate_tools.cc).
  Result<ToolResult> check(const ToolCall& call);
  Result<ToolResult> run(const ToolCall& call);
  Result<ordered_json> report_of(const ToolCall& call, std::vector<std::string> words, const std::string& input);

  void count(const std::string& tool, const ToolResult& result) const;
  Result<ToolResult> masked(Result<ToolResult> result) const;
  std::string masked(const std::string& text) const;
  void mask(ordered_json& value) const;

  const Options& options_;
  CommandContext& context_;
  const Settings settings_;
  SessionAccess sessions_;
  std::vector<Tool> tools_;
};

// A text argument.
std::string asked_text(const ToolCall& call, const char* key, std::string fallback = {});

}  // namespace guard::mcp
