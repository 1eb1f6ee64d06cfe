#include "cli/mcp/client_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/sessions/trace_options.h"
#include "cli/settings_edit.h"
#include "common/text/text.h"

namespace guard::mcp {
namespace {

struct ClientRow {
  std::string_view name;
  std::string_view settings;
  std::string_view servers;  // the key that holds them
};

// docs/agents.md has where each of them is described.
constexpr ClientRow kClients[] = {
    {"claude", ".mcp.json", "mcpServers"},
    {"cursor", ".cursor/mcp.json", "mcpServers"},
    {"vscode", ".vscode/mcp.json", "servers"},
    {"gemini", ".gemini/settings.json", "mcpServers"},
};

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().native();
}

// What the person has said beside `install`, so that the server the agent starts is the one that was meant.
Result<nlohmann::ordered_json> entry_of(const Options& options) {
  std::vector<std::string> words = {"mcp"};
  const auto add = [&words](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  if (options.tenant != Options().tenant) add("--tenant", options.tenant);
  if (options.backend) add("--backend", std::string(backend_row(*options.backend).name));
  add("--state", absolute(options.state));
  for (const std::string& word : trace_words(options)) words.push_back(word);
  add("--config", absolute(options.config));
  for (const ConfigOverride& one : options.overrides) add(one.option.c_str(), one.text.value_or(""));
  return nlohmann::ordered_json{{"type", "stdio"}, {"command", "guard"}, {"args", words}};
}

}  // namespace

Result<int> install(const Options& options, CommandContext& context) {
  const auto* client = std::find_if(
      std::begin(kClients), std::end(kClients), [&](const ClientRow& row) { return row.name == options.client; });
  if (client == std::end(kClients))
    return Error(ErrorCode::usage, "whose settings?").hint("--client claude, cursor, vscode or gemini");
  GUARD_TRY_ASSIGN(const auto project, project_folder(options.project));
  GUARD_TRY_ASSIGN(FileEdit edit, begin_edit(project, client->settings));
  constexpr std::string_view kByHand = "put the settings of docs/agents.md into it by hand";
  GUARD_TRY_ASSIGN(auto settings, settings_in(edit, kByHand));
  auto& servers = settings[std::string(client->servers)];
  if (servers.is_null()) servers = nlohmann::ordered_json::object();
  if (!servers.is_object()) {
    return Error(ErrorCode::input_invalid,
        fmt::format("{} has \"{}\" that are no object", printable(edit.path.native()), client->servers))
        .hint(std::string(kByHand));
  }
  GUARD_TRY_ASSIGN(const auto entry, entry_of(options));
  if (servers.value("guard", nlohmann::ordered_json()) != entry) {
    servers["guard"] = entry;
    edit.after = settings_text(settings);
  }
  return finish_edits(std::span(&edit, 1), options.yes, context.streams.out);
}

}  // namespace guard::mcp
