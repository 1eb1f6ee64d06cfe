#include "cli/mcp/tools.h"

#include <fmt/format.h>

#include <utility>

#include "cli/commands/trusted_inputs.h"
#include "common/text/base64.h"
#include "common/text/text.h"
#include "pipeline/evidence/masked_record.h"
#include "pipeline/run/run_output.h"
#include "redact/redactor.h"
#include "runner/process/run_folder.h"
#include "sessions/session_values.h"

extern "C" {
extern const char guard_mcp_tools[];
extern const char guard_mcp_tools_end[];
}

namespace guard::mcp {

Tools::Tools(const Options& options, CommandContext& context, Settings settings)
    : options_(options), context_(context), settings_(std::move(settings)), sessions_(options, context) {
  using SandboxWork = Result<ToolResult> (Tools::*)(const InSession&);
  using GateWork = Result<ToolResult> (Tools::*)(const ToolCall&);
  const std::map<std::string, SandboxWork> sandbox_works = {{"shell_execute", &Tools::shell},
      {"python_execute", &Tools::python}, {"sandbox_fs_list", &Tools::list}, {"sandbox_fs_read", &Tools::read},
      {"sandbox_fs_write", &Tools::write}};
  const std::map<std::string, GateWork> gate_works = {{"guard_check", &Tools::check}, {"guard_run", &Tools::run}};
  const ordered_json said = ordered_json::parse(guard_mcp_tools, guard_mcp_tools_end);
  for (const auto& listing : said["tools"]) {
    Tool tool;
    tool.listing = listing;
    std::function<Result<ToolResult>(const ToolCall&)> work;
    if (const auto found = sandbox_works.find(tool.name()); found != sandbox_works.end()) {
      tool.listing["inputSchema"]["properties"]["session"] = said["session"];
      tool.listing["outputSchema"]["properties"].update(said["answers"]);
      work = [this, one = found->second](const ToolCall& call) { return in_session(one, call); };
    } else {
      work = [this, one = gate_works.at(tool.name())](const ToolCall& call) { return (this->*one)(call); };
    }
    tool.arguments = std::make_shared<JsonSchema>(json(tool.listing["inputSchema"]));
    tool.call = [this, work, name = tool.name()](const ToolCall& call) {
      ToolCall told = call;
      told.progress = [&](const std::string& text) { call.progress(masked(text)); };
      try {
        auto result = work(told);
        if (result && settings_.counts != nullptr) count(name, *result);
        return masked(std::move(result));
      } catch (
          const std::exception& failure) {  // of the library that reads JSON: a mistake of ours, and of this call only
        return masked(Error(ErrorCode::internal, failure.what()));
      }
    };
    tools_.push_back(std::move(tool));
  }
}

Result<std::unique_ptr<Tools>> Tools::create(const Options& options, CommandContext& context, serve::Counts* counts) {
  GUARD_TRY_ASSIGN(std::filesystem::path project, project_folder(options.project));
  GUARD_TRY_ASSIGN(const ConfigSources sources, sources_of(options, project, context));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(sources));
  GUARD_TRY_ASSIGN(auto variables, run_variables(loaded.config, context.environment));
  GUARD_TRY_ASSIGN(SecretSource secrets, secrets_of(context.environment, loaded.config, variables));
  GUARD_TRY(sessions::check_session_id(options.tenant + "/a"));
  return std::unique_ptr<Tools>(new Tools(options, context,
      {std::move(project), std::move(variables), loaded.config.limits.output_keep_bytes, std::move(secrets), counts}));
}

Result<std::string> Tools::new_session() const {
  GUARD_TRY_ASSIGN(const std::string id, new_run_id());
  return fmt::format("{}/{}", options_.tenant, id);
}

Result<ToolResult> Tools::in_session(Result<ToolResult> (Tools::*work)(const InSession&), const ToolCall& call) {
  std::string session = asked_text(call, "session");
  // As answers name it, or without the tenant.
  if (!session.empty() && !session.starts_with(options_.tenant + "/")) session = options_.tenant + "/" + session;
  const bool is_own = session.empty() || session == call.session;
  if (session.empty()) session = call.session;
  GUARD_TRY(sessions::check_session_id(session));
  // Opened by what needs it: a call that is refused for what it says starts no sandbox.
  StartTask opened;
  const StartTask start = [&](const TaskSpec& spec) -> Result<std::unique_ptr<Task>> {
    if (!opened) {
      GUARD_TRY_ASSIGN(opened, sessions_.tasks(session, is_own, call.wanted));
    }
    return opened(spec);
  };
  const InSession in{call, start};
  GUARD_TRY_ASSIGN(ToolResult result, (this->*work)(in));
  result.structured["session"] = session;
  return result;
}

std::string Tools::masked(const std::string& text) const {
  return redact_text(settings_.secrets, text).value_or("[withheld: no redactor could be made]");
}

// Texts, names and numbers each; and a text that is secret by the name before it.
void Tools::mask(ordered_json& value) const {
  if (value.is_object()) {
    ordered_json object = ordered_json::object();
    for (auto& [key, member] : value.items()) {
      mask(member);
      constexpr std::size_t kValueBytesMax = 512;
      if (member.is_string() && member.get_ref<const std::string&>().size() <= kValueBytesMax) {
        const std::string pair = fmt::format("{}={}", key, member.get_ref<const std::string&>());
        if (masked(pair) != pair) member = "[REDACTED]";
      }
      object[masked(key)] = std::move(member);
    }
    value = std::move(object);
  } else if (value.is_array()) {
    for (ordered_json& element : value) mask(element);
  } else if (value.is_string() || value.is_number()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    std::string hidden = masked(text);
    if (hidden != text) value = std::move(hidden);
  }
}

void Tools::count(const std::string& tool, const ToolResult& result) const {
  using Family = serve::Counts::Family;
  const ordered_json& said = result.structured;
  if (tool == "guard_run" && said.contains("verdict")) settings_.counts->add(Family::runs, said["verdict"]);
  const auto findings = said.find("findings");
  if (findings != said.end() && findings->is_array()) {
    for (const auto& finding : *findings) settings_.counts->add(Family::findings, finding["rule"]);
  }
  const auto redactions = said.find("redactions");
  if (redactions == said.end() || !redactions->is_object()) return;
  for (const auto& [kind, count] : redactions->items())
    settings_.counts->add(Family::redactions, kind, count.get<std::uint64_t>());
}

Result<ToolResult> Tools::masked(Result<ToolResult> result) const {
  if (!result) return masked_error(settings_.secrets, result.error());
  result->text = masked(result->text);
  mask(result->structured);
  if (!result->bytes.empty()) result->structured["content"] = base64_encode(result->bytes);
  return result;
}

std::string asked_text(const ToolCall& call, const char* key, std::string fallback) {
  return call.arguments.value(key, std::move(fallback));
}

}  // namespace guard::mcp
