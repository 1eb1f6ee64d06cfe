#include "cli/options/config_template.h"

#include <fmt/format.h>

#include "pipeline/config/config_keys.h"
#include "pipeline/config/config_values.h"

namespace guard {
namespace {

constexpr std::string_view kHead =
    "# What guard does in this project. Every key is shown with its default; take a # away to change it.\n"
    "# The environment (GUARD_<SECTION>_<KEY>) stands over this file, options stand over both; `guard config show`\n"
    "# says what holds and why. Keep this file out of the sandbox folder: what a generator wrote is not trusted.\n";

constexpr std::string_view kWaiver =
    "# [[check.waivers]]\n"
    "# rule = \"docker.secret_file\"\n"
    "# path = \"sandbox/loader.test.ts\"\n"
    "# fingerprint = \"\"  # `guard check --print-waiver` writes it\n"
    "# reason = \"\"\n"
    "# expires = 2030-12-31\n";

constexpr std::string_view kCredential =
    "# [[network.credential]]\n"
    "# host = \"api.example.com\"\n"
    "# header = \"Authorization\"\n"
    "# prefix = \"Bearer \"\n"
    "# value_from = \"env:EXAMPLE_API_KEY\"\n"
    "# lifetime_s = 0\n";

std::string key_text(const ConfigKey& key, const Config& defaults) {
  std::string text = fmt::format("\n# {}", key.doc);
  if (!key.choices().empty() || key.min != key.max) text += fmt::format(" ({})", key.type_text());
  if (!key.empty_means.empty())
    text += fmt::format(" {}: {}.", key.needs_items ? "Left out" : "Empty", key.empty_means);
  text += '\n';
  if (std::holds_alternative<WaiversSlot>(key.slot)) return text + std::string(kWaiver);
  if (std::holds_alternative<CredentialsSlot>(key.slot)) return text + std::string(kCredential);
  if (std::holds_alternative<VariablesSlot>(key.slot))
    return text + fmt::format("[{}]\n# TZ = \"UTC\"\n", key.dotted());
  std::string value = toml_literal(key, defaults);
  // A line must be good as it stands once its # is gone, and here an empty list would be refused.
  if (key.needs_items && value == "[]") value = "[\"NODE_ENV\"]";
  return text + fmt::format("# {} = {}\n", key.name, value);
}

}  // namespace

std::string config_template(const std::vector<std::string>& gated) {
  const Config defaults;
  Config found;
  found.check.paths.insert(found.check.paths.end(), gated.begin(), gated.end());
  std::string text(kHead);
  std::string_view section;
  for (const auto& key : config_keys()) {
    if (key.section != section) {
      section = key.section;
      text += fmt::format("\n[{}]\n", section);
    }
    text += key_text(key, defaults);
    if (!gated.empty() && key.dotted() == "check.paths") {
      text += fmt::format(
          "# The tests of this project lie there: whoever writes them is judged before they run.\n{} = {}\n", key.name,
          toml_literal(key, found));
    }
  }
  return text;
}

}  // namespace guard
