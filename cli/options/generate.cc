#include "cli/options/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "cli/options/verbs.h"
#include "common/text/template.h"
#include "common/text/text.h"

extern "C" {
extern const char guard_generate_man[], guard_generate_man_end[];
extern const char guard_generate_bash[], guard_generate_bash_end[];
extern const char guard_generate_zsh[], guard_generate_zsh_end[];
extern const char guard_generate_fish[], guard_generate_fish_end[];
}

namespace guard {
namespace {

using Json = nlohmann::ordered_json;

// "list show check ..." of `guard rules`.
std::string actions_of(const VerbRow& row) {
  std::vector<std::string_view> actions;
  for (const auto& action : row.actions) {
    if (action.action != Action::none && !action.hidden) actions.push_back(to_string(action.action));
  }
  return fmt::format("{}", fmt::join(actions, " "));
}

bool is_path(std::string_view value) {
  return value == "DIR" || value.find("FILE") != value.npos || value.find("FOLDER") != value.npos ||
      value.find("PATH") != value.npos;
}

Json model_of(const OptionRow& row) {
  Json json = {{"long", row.name.substr(2)}, {"letter", row.short_name.substr(row.short_name.empty() ? 0 : 1)},
      {"words", {row.name}}, {"value", row.value}, {"help", row.help}, {"key", row.key}, {"repeats", row.repeats},
      {"choices", fmt::format("{}", fmt::join(row.choices, " "))}, {"is_path", is_path(row.value)}};
  if (!row.short_name.empty()) json["words"].push_back(row.short_name);
  return json;
}

Json model() {
  Json json = {{"version", GUARD_VERSION}, {"verbs", Json::array()}};
  for (const auto& row : verbs()) {
    Json verb = {{"verb", row.name}, {"summary", row.summary}, {"usage", pieces_of(usage_of(row))},
        {"about", pieces_of(row.about)}, {"examples", pieces_of(row.examples)},
        {"exit_status", pieces_of(row.exit_status)}, {"actions", actions_of(row)}, {"options", Json::array()}};
    for (const auto& option : row.options) verb["options"].push_back(model_of(option));
    json["verbs"].push_back(std::move(verb));
  }
  return json;
}

// Within single quotes, where brackets and colons mean something.
std::string zsh(std::string_view text) { return replaced(backslashed(text, "[]:\\"), "'", "'\\''"); }

// A minus that can be copied from the page, and no line that starts a macro.
std::string roff(std::string_view text) {
  static constexpr std::string_view kSpecial = "\\-'`^~";
  static constexpr std::string_view kWritten[] = {"\\e", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti"};
  std::string out(text);
  for (std::size_t i = 0; i < kSpecial.size(); ++i) out = replaced(std::move(out), kSpecial.substr(i, 1), kWritten[i]);
  return text.starts_with('.') ? "\\&" + out : out;
}

}  // namespace

std::string generated_text(Action what) {
  switch (what) {
    case Action::bash: return fill_template({guard_generate_bash, guard_generate_bash_end}, model(), {});
    case Action::zsh: return fill_template({guard_generate_zsh, guard_generate_zsh_end}, model(), {zsh, nullptr});
    case Action::fish:
      return fill_template({guard_generate_fish, guard_generate_fish_end}, model(), {shell_quoted, nullptr});
    default: return fill_template({guard_generate_man, guard_generate_man_end}, model(), {roff, nullptr});
  }
}

Result<int> cmd_generate(const Options& options, CommandContext& context) {
  context.streams.out.write(generated_text(options.action));
  return 0;
}

}  // namespace guard
