#include "pipeline/config/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/text/text.h"
#include "common/text/toml_file.h"
#include "pipeline/config/config_file.h"
#include "pipeline/config/config_keys.h"
#include "pipeline/config/config_texts.h"
#include "pipeline/config/config_values.h"

// Sources are read one after the other into the same Config, lowest first, so the last word wins without any merging. A
// fault never ends the reading: a person fixes all of them in one go.

namespace guard {
namespace {

constexpr std::string_view kPrefix = "GUARD_";
constexpr std::string_view kVariablePrefix = "GUARD_RUN_ENV_";
constexpr std::string_view kVariableSection = "run.env.";
// Names that say how guard itself works on this machine and are no part of the configuration.
constexpr std::string_view kOperational[] = {
    "GUARD_ACADS_ENDPOINT", "GUARD_BUN", "GUARD_CACHE_DIR", "GUARD_LOG", "GUARD_STATE_DIR", "GUARD_TRACE"};
constexpr std::string_view kTestPrefix = "GUARD_TEST_";

// Who set a key's value last; a higher one counts for more.
enum class Source : std::uint8_t { defaults, file, environment, option };

struct Said {
  Source source = Source::defaults;
  std::string origin = "default";
  std::uint32_t file_line = 0;  // where the file says it, and nobody above the file anything; 0: nowhere
};

class Loader {
 public:
  Result<LoadedConfig> load(const ConfigSources& sources, ConfigEntries entries) {
    std::optional<ConfigText> text = sources.text;
    std::optional<ConfigFile> file;
    if (!text && !sources.file.empty()) {
      GUARD_TRY_ASSIGN(file, read_config_file(sources.file));
    } else if (!text && !sources.search_from.empty()) {
      GUARD_TRY_ASSIGN(const auto place, config_place(sources.search_from));
      GUARD_TRY_ASSIGN(file, find_config_file(place));
    }
    if (file) {
      loaded_.file = file->path;
      loaded_.file_bytes = file->text.bytes;
      text = std::move(file->text);
    }
    if (text) GUARD_TRY(read_file_text(*text));
    read_environment(sources.environment);
    read_overrides(sources.overrides);
    if (faults_.empty()) inherit();
    if (faults_.empty()) check_together();
    if (!faults_.empty()) return failure();
    if (entries == ConfigEntries::list) list_entries();
    list_relaxations();
    return std::move(loaded_);
  }

 private:
  Config& config() { return loaded_.config; }

  // ---- guard.toml ----

  Result<void> read_file_text(const ConfigText& text) {
    file_name_ = printable(text.name);
    if (text.bytes.size() > kConfigBytesMax)
      return Error(ErrorCode::config_invalid, fmt::format("{} is larger than {} bytes", file_name_, kConfigBytesMax));
    const auto root = parse_toml(text.bytes, text.name);
    if (!root) {
      faults_.push_back(root.error().message());
      return ok();
    }
    for (const auto& member : root->members) {
      const bool is_section = std::ranges::any_of(
          config_keys(), [&](const ConfigKey& key) { return !key.section.empty() && key.section == member.key; });
      if (!is_section) {
        read_member({}, member);
      } else if (member.value.kind != TomlValue::Kind::table) {
        add_fault(member, fmt::format("{} must be a table, not {}", member.key, member.value.kind_name()));
      } else {
        for (const auto& inner : member.value.members) read_member(member.key, inner);
      }
    }
    return ok();
  }

  void read_member(std::string_view section, const TomlMember& member) {
    const auto keys = config_keys();
    const auto key = std::ranges::find_if(
        keys, [&](const ConfigKey& row) { return row.section == section && row.name == member.key; });
    if (key == keys.end()) return add_unknown(section, member);
    for (const auto& complaint : set_from_toml(*key, member.value, file_name_, config()))
      faults_.push_back(toml_complaint(file_name_, complaint.line, complaint.column, complaint.sentence));
    note(*key, Source::file, fmt::format("{}:{}", file_name_, member.line)).file_line = member.line;
    if (!std::holds_alternative<VariablesSlot>(key->slot)) return;
    for (const auto& variable : member.value.members)
      variables_[variable.key] = fmt::format("{}:{}", file_name_, variable.line);
  }

  // With what was meant: a slip of the keys, or a key that stands in the wrong section.
  void add_unknown(std::string_view section, const TomlMember& member) {
    const bool table = member.value.kind == TomlValue::Kind::table;
    std::string sentence = section.empty() && table ? fmt::format("unknown section [{}]", shown_value(member.key))
                                                    : fmt::format("unknown key `{}`", shown_value(member.key));
    if (!section.empty()) sentence += fmt::format(" in [{}]", section);
    std::vector<std::string_view> known;
    for (const auto& key : config_keys()) {
      if (!table && key.name == member.key) {
        return add_fault(member,
            sentence +
                (key.section.empty() ? "; it belongs before the first section"
                                     : fmt::format("; it belongs in [{}]", key.section)));
      }
      if (key.section == section) known.push_back(key.name);
      if (section.empty() && !key.section.empty()) known.push_back(key.section);
    }
    const auto near = nearest_word(member.key, known);
    add_fault(member, sentence + (near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
  }

  void add_fault(const TomlMember& member, std::string_view sentence) {
    faults_.push_back(toml_complaint(file_name_, member.line, member.column, sentence));
  }

  // ---- GUARD_<SECTION>_<KEY> ----

  void read_environment(const Environment& environment) {
    std::map<std::string, const ConfigKey*> keys;  // made for the first variable: most runs have none
    for (auto at = environment.lower_bound(std::string(kPrefix));
         at != environment.end() && at->first.starts_with(kPrefix); ++at) {
      const auto& [name, text] = *at;
      if (std::ranges::find(kOperational, name) != std::end(kOperational) || name.starts_with(kTestPrefix)) continue;
      if (keys.empty()) {
        for (const auto& key : config_keys()) keys.emplace(key.environment_name(), &key);
      }
      const std::string origin = fmt::format("environment {}", shown_value(name));
      if (name.starts_with(kVariablePrefix)) {
        take_variable(name.substr(kVariablePrefix.size()), text, origin);
      } else if (const auto key = keys.find(name); key != keys.end()) {
        take_text(*key->second, text, Source::environment, origin);
      } else {
        std::vector<std::string_view> known(std::begin(kOperational), std::end(kOperational));
        for (const auto& [own, row] : keys) known.push_back(own);
        const auto near = nearest_word(name, known);
        faults_.push_back(fmt::format("{}: there is no such key{}", origin,
            near.empty() ? std::string() : fmt::format("; did you mean {}?", near)));
      }
    }
  }

  // ---- options ----

  void read_overrides(const std::vector<ConfigOverride>& overrides) {
    for (const auto& given : overrides) {
      const std::string origin = fmt::format("option {}", shown_value(given.option));
      if (given.key.starts_with(kVariableSection)) {
        take_variable(given.key.substr(kVariableSection.size()), given.text, origin);
      } else if (const auto* key = find_config_key(given.key); key != nullptr && given.text) {
        take_text(*key, *given.text, Source::option, origin);
      } else {
        faults_.push_back(fmt::format("{}: there is no key {}", origin, shown_value(given.key)));
      }
    }
  }

  // ---- common to all ----

  void take_text(const ConfigKey& key, std::string_view text, Source source, const std::string& origin) {
    for (const auto& complaint : set_from_text(key, text, config()))
      faults_.push_back(fmt::format("{}: {}", origin, complaint.sentence));
    note(key, source, origin).file_line = 0;
  }

  void take_variable(std::string_view name, std::optional<std::string_view> text, const std::string& origin) {
    if (auto complaint = set_variable(name, text, config()))
      faults_.push_back(fmt::format("{}: {}", origin, complaint->sentence));
    variables_[std::string(name)] = origin;
  }

  Said& note(const ConfigKey& key, Source source, const std::string& origin) {
    Said& said = said_[&key];
    const bool joins = key.adds && (said.source != Source::defaults || toml_literal(key, Config()) != "[]");
    said.origin = joins ? fmt::format("{}, {}", said.origin, origin) : origin;
    said.source = source;
    return said;
  }

  void inherit() {
    if (said_.empty()) return;
    for (const auto& key : config_keys()) {
      const ConfigKey* general = key.inherits.empty() ? nullptr : find_config_key(key.inherits);
      if (general == nullptr || said_[general].source <= said_[&key].source) continue;
      std::get<TimeSlot>(key.slot)(config()) = std::get<TimeSlot>(general->slot)(config());
      said_[&key] = {said_[general].source, fmt::format("{} ({})", key.inherits, said_[general].origin)};
    }
  }

  // What no key can say by itself.
  void check_together() {
    const auto origin = [this](std::string_view key) { return said_[find_config_key(key)].origin; };
    const auto& limits = config().limits;
    if (limits.output_flood_bytes < limits.output_keep_bytes) {
      faults_.push_back(fmt::format("limits.output_flood ({}) is below limits.output_keep ({})",
          origin("limits.output_flood"), origin("limits.output_keep")));
    }
    if (config().run.collect == CollectPolicy::listed && config().run.collect_paths.empty()) {
      faults_.push_back(
          fmt::format("run.collect is \"listed\" ({}), but run.collect_paths lists nothing", origin("run.collect")));
    }
  }

  Error failure() const {
    return Error(ErrorCode::config_invalid,
        faults_.size() == 1 ? faults_[0]
                            : fmt::format("{} faults\n    {}", faults_.size(), fmt::join(faults_, "\n    ")))
        .hint("fix what is named here; docs/configuration.md and `guard init` have every key with its default");
  }

  void list_entries() {
    const auto& waivers = config().check.waivers;
    for (const auto& key : config_keys()) {
      const std::string name = key.dotted();
      if (std::holds_alternative<VariablesSlot>(key.slot) && !config().run.env.empty()) {
        for (const auto& [variable, value] : config().run.env) {
          loaded_.entries.push_back({fmt::format("{}.{}", name, variable),
              value.inherited ? "true" : toml_string(fmt::format("[REDACTED:env:{}]", variable)),
              variables_[variable]});
        }
      } else if (std::holds_alternative<WaiversSlot>(key.slot) && !waivers.empty()) {
        for (std::size_t i = 0; i < waivers.size(); ++i) {
          const auto& waiver = waivers[i];
          loaded_.entries.push_back({fmt::format("{}[{}]", name, i),
              toml_string(
                  fmt::format("{} in {} until {}: {}", waiver.rule, waiver.path, waiver.expires, waiver.reason)),
              waiver.origin});
        }
      } else if (std::holds_alternative<CredentialsSlot>(key.slot) && !config().network.credentials.empty()) {
        std::size_t i = 0;
        for (const CredentialRule& one : config().network.credentials) {
          loaded_.entries.push_back({fmt::format("{}[{}]", name, i++), toml_string(credential_text(one)), one.origin});
        }
      } else {
        loaded_.entries.push_back(
            {name, toml_literal(key, config()), key.has_text_form() ? said_[&key].origin : "default"});
      }
    }
  }

  // Whether it was said by the file alone: the environment and the options are a person's own, and an item that they
  // add to a list takes the file's items along in the few keys that add up, none of which can relax anything.
  void list_relaxations() {
    if (said_.empty()) return;
    for (const auto& key : config_keys()) {
      const std::uint32_t line = said_[&key].file_line;
      if (line == 0 || !key.relaxes(key, config())) continue;
      const std::string value = key.has_text_form() ? " = " + toml_literal(key, config()) : std::string();
      loaded_.relaxations.push_back(fmt::format("{}{} ({}:{})", key.dotted(), value, file_name_, line));
    }
  }

  LoadedConfig loaded_;
  std::string file_name_;
  std::map<const ConfigKey*, Said> said_;
  std::map<std::string, std::string> variables_;  // of [run.env], by name: where each was said
  std::vector<std::string> faults_;
};

}  // namespace

const ConfigEntry* LoadedConfig::find(std::string_view key) const noexcept {
  const auto found = std::ranges::find(entries, key, &ConfigEntry::key);
  return found == entries.end() ? nullptr : &*found;
}

Result<LoadedConfig> load_config(const ConfigSources& sources, ConfigEntries entries) {
  return Loader().load(sources, entries);
}

Result<std::map<std::string, std::string>> run_variables(const Config& config, const Environment& environment) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : config.run.env) {
    if (!value.inherited) {
      variables.emplace(name, value.text);
      continue;
    }
    const auto own = environment.find(name);
    if (own == environment.end()) {
      return Error(ErrorCode::config_invalid,
          fmt::format("run.env passes {} on, but guard's own environment has no such variable", name))
          .hint(fmt::format("set {}, or give it a value: {}=VALUE", name, name));
    }
    variables.emplace(name, own->second);
  }
  return variables;
}

}  // namespace guard
