#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/trusted_inputs.h"
#include "common/text/text.h"
#include "pipeline/config/config_keys.h"

namespace guard {
namespace {

// What an empty value stands for, where it stands for something.
std::string_view meaning(const ConfigEntry& entry) {
  if (entry.value != "\"\"" && entry.value != "[]") return {};
  const auto* key = find_config_key(entry.key);
  return key == nullptr ? std::string_view() : key->empty_means;
}

std::string table(const LoadedConfig& loaded) {
  // A long list must not push the origins of all other keys off the screen.
  constexpr std::size_t kValueColumnMax = 44;
  std::size_t key_width = 0;
  std::size_t value_width = 0;
  std::vector<std::string> values;
  for (const auto& entry : loaded.entries) {
    const auto means = meaning(entry);
    values.push_back(printable(entry.value) + (means.empty() ? std::string() : fmt::format("  ({})", means)));
    key_width = std::max(key_width, entry.key.size());
    if (values.back().size() <= kValueColumnMax) value_width = std::max(value_width, values.back().size());
  }
  std::string text = loaded.file.empty()
      ? std::string("no guard.toml found; these are the defaults and what stands over them\n")
      : fmt::format("{}\n", printable(loaded.file.native()));
  for (std::size_t i = 0; i < loaded.entries.size(); ++i) {
    const auto& entry = loaded.entries[i];
    text += fmt::format("{:<{}}  {:<{}}  {}\n", entry.key, key_width, values[i], value_width, printable(entry.origin));
  }
  return text;
}

std::string document(const LoadedConfig& loaded) {
  nlohmann::ordered_json root;
  root["version"] = 1;
  root["file"] =
      loaded.file.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(printable(loaded.file.native()));
  auto& entries = root["entries"] = nlohmann::ordered_json::array();
  for (const auto& entry : loaded.entries) {
    nlohmann::ordered_json row;
    row["key"] = entry.key;
    // Every literal that toml_literal() writes is JSON as well.
    row["value"] = nlohmann::ordered_json::parse(entry.value, nullptr, /*allow_exceptions=*/false);
    row["origin"] = printable(entry.origin);
    entries.push_back(std::move(row));
  }
  return root.dump(2) + "\n";
}

}  // namespace

Result<int> cmd_config(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const LoadedConfig loaded,
      load_config(config_of(options.config, options.project.empty() ? "." : options.project, context)));
  context.streams.out.write(options.format == OutputFormat::json ? document(loaded) : table(loaded));
  return 0;
}

}  // namespace guard
