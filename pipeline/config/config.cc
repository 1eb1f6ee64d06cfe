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
constexpr std::string_view kOperational[] = {"GUARD_BUN", "GUARD_CACHE_DIR", "GUARD_LOG", "GUARD_STATE_DIR"};
constexpr std::string_view kTestPrefix = "GUARD_TEST_";

class Loader {
 public:
  Result<LoadedConfig> load(const ConfigSources& sources) {
    if (sources.text) {
      GUARD_TRY(read_file_text(*sources.text));
    } else if (!sources.file.empty()) {
      GUARD_TRY_ASSIGN(const auto file, read_config_file(sources.file));
      loaded_.file = file.path;
      loaded_.file_bytes = file.text.bytes;
      GUARD_TRY(read_file_text(file.text));
    } else if (!sources.search_from.empty()) {
      GUARD_TRY_ASSIGN(const auto place, config_place(sources.search_from));
      GUARD_TRY_ASSIGN(const auto file, find_config_file(place));
      if (file) {
        loaded_.file = file->path;
        loaded_.file_bytes = file->text.bytes;
        GUARD_TRY(read_file_text(file->text));
      }
    }
    read_environment(sources.environment);
    read_overrides(sources.overrides);
    if (faults_.empty()) inherit();
    if (faults_.empty()) check_together();
    if (!faults_.empty()) return failure();
    list_entries();
    list_relaxations();
    return std::move(loaded_);
  }

 private:
  Config& config() { return loaded_.config; }

  // ---- guard.toml ----

  Result<void> read_file_text(const ConfigText& text) {
    file_name_ = printable(text.name);
    if (text.bytes.size() > kConfigBytesMax) {
      return Error(ErrorCode::config_invalid, fmt::format("{} is larger than {} bytes", file_name_, kConfigBytesMax));
    }
    const auto root = parse_toml(text.bytes, text.name);
    if (!root) {
      faults_.push_back(root.error().message());
      return ok();
    }
    for (const auto& member : root->members) {
      const bool is_section = std::any_of(config_keys().begin(), config_keys().end(),
          [&](const ConfigKey& key) { return !key.section.empty() && key.section == member.key; });
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
    for (const auto& key : config_keys()) {
      if (key.section != section || key.name != member.key) continue;
      std::vector<ConfigComplaint> complaints;
      set_from_toml(key, member.value, file_name_, config(), complaints);
      for (const auto& complaint : complaints) {
        faults_.push_back(toml_complaint(file_name_, complaint.line, complaint.column, complaint.sentence));
      }
      from_file_[&key] = member.line;
      const bool listed_one_by_one = key.type == KeyType::variables || key.type == KeyType::waivers;
      ranks_[&key] = kFileRank;
      if (complaints.empty() && !listed_one_by_one) note_origin(key, fmt::format("{}:{}", file_name_, member.line));
      if (key.type != KeyType::variables || member.value.kind != TomlValue::Kind::table) return;
      for (const auto& variable : member.value.members) {
        origins_[std::string(kVariableSection) + variable.key] = fmt::format("{}:{}", file_name_, variable.line);
      }
      return;
    }
    const bool table = member.value.kind == TomlValue::Kind::table;
    const std::string what = section.empty() && table ? fmt::format("unknown section [{}]", shown_value(member.key))
        : section.empty()                             ? fmt::format("unknown key `{}`", shown_value(member.key))
                          : fmt::format("unknown key `{}` in [{}]", shown_value(member.key), section);
    add_fault(member, what + suggestion(section, member.key, table));
  }

  // What was meant: a slip of the keys, or a key that stands in the wrong section.
  static std::string suggestion(std::string_view section, std::string_view name, bool table) {
    std::vector<std::string_view> known;
    for (const auto& key : config_keys()) {
      if (!table && key.name == name) {
        return key.section.empty() ? "; it belongs before the first section"
                                   : fmt::format("; it belongs in [{}]", key.section);
      }
      if (key.section == section) known.push_back(key.name);
      if (section.empty() && !key.section.empty()) known.push_back(key.section);
    }
    const auto near = nearest_word(name, known);
    return near.empty() ? std::string() : fmt::format("; did you mean `{}`?", near);
  }

  void add_fault(const TomlMember& member, std::string_view sentence) {
    faults_.push_back(toml_complaint(file_name_, member.line, member.column, sentence));
  }

  // ---- GUARD_<SECTION>_<KEY> ----

  void read_environment(const Environment& environment) {
    for (auto at = environment.lower_bound(std::string(kPrefix));
         at != environment.end() && at->first.starts_with(kPrefix); ++at) {
      const std::string& name = at->first;
      const std::string& text = at->second;
      if (std::find(std::begin(kOperational), std::end(kOperational), name) != std::end(kOperational)) continue;
      if (name.starts_with(kTestPrefix)) continue;
      const std::string origin = fmt::format("environment {}", shown_value(name));
      if (name.starts_with(kVariablePrefix)) {
        take_variable(name.substr(kVariablePrefix.size()), text, origin);
        continue;
      }
      const auto keys = config_keys();
      const auto key =
          std::find_if(keys.begin(), keys.end(), [&](const ConfigKey& row) { return row.environment_name() == name; });
      if (key != keys.end()) {
        take_text(*key, text, origin);
        ranks_[&*key] = kEnvironmentRank;
      } else {
        faults_.push_back(fmt::format("{}: there is no such key{}", origin, environment_suggestion(name)));
      }
    }
  }

  static std::string environment_suggestion(std::string_view name) {
    std::vector<std::string> names;
    for (const auto& key : config_keys()) names.push_back(key.environment_name());
    std::vector<std::string_view> known(names.begin(), names.end());
    known.insert(known.end(), std::begin(kOperational), std::end(kOperational));
    const auto near = nearest_word(name, known);
    return near.empty() ? std::string() : fmt::format("; did you mean {}?", near);
  }

  // ---- options ----

  void read_overrides(const std::vector<ConfigOverride>& overrides) {
    for (const auto& given : overrides) {
      const std::string origin = fmt::format("option {}", shown_value(given.option));
      if (given.key.starts_with(kVariableSection)) {
        take_variable(given.key.substr(kVariableSection.size()), given.text, origin);
      } else if (const auto* key = find_config_key(given.key); key != nullptr && given.text) {
        take_text(*key, *given.text, origin);
        ranks_[key] = kOptionRank;
      } else {
        faults_.push_back(fmt::format("{}: there is no key {}", origin, shown_value(given.key)));
      }
    }
  }

  // ---- common to all ----

  void take_text(const ConfigKey& key, std::string_view text, const std::string& origin) {
    if (auto complaint = set_from_text(key, text, config())) {
      faults_.push_back(fmt::format("{}: {}", origin, complaint->sentence));
    } else {
      note_origin(key, origin);
      from_file_.erase(&key);
    }
  }

  void take_variable(std::string_view name, std::optional<std::string_view> text, const std::string& origin) {
    if (auto complaint = set_variable(name, text, config())) {
      faults_.push_back(fmt::format("{}: {}", origin, complaint->sentence));
    } else {
      origins_[std::string(kVariableSection) + std::string(name)] = origin;
    }
  }

  void note_origin(const ConfigKey& key, const std::string& origin) {
    auto& noted = origins_[key.dotted()];
    const bool first = noted.empty() && toml_literal(key, Config()) == "[]";
    noted = !key.adds || first ? origin : fmt::format("{}, {}", noted.empty() ? "default" : noted, origin);
  }

  std::string origin_of(const std::string& key) const {
    const auto found = origins_.find(key);
    return found == origins_.end() ? "default" : found->second;
  }

  void inherit() {
    for (const auto& key : config_keys()) {
      const ConfigKey* general = key.inherits.empty() ? nullptr : find_config_key(key.inherits);
      if (general == nullptr || ranks_[general] <= ranks_[&key]) continue;
      if (const auto complaint = set_from_text(key, toml_literal(*general, config()), config()))
        faults_.push_back(complaint->sentence);
      origins_[key.dotted()] = fmt::format("{} ({})", key.inherits, origin_of(general->dotted()));
      from_file_.erase(&key);
    }
  }

  // What no key can say by itself.
  void check_together() {
    const auto& limits = config().limits;
    if (limits.output_flood_bytes < limits.output_keep_bytes) {
      faults_.push_back(fmt::format("limits.output_flood ({}) is below limits.output_keep ({})",
          origin_of("limits.output_flood"), origin_of("limits.output_keep")));
    }
    if (config().run.collect == CollectPolicy::listed && config().run.collect_paths.empty()) {
      faults_.push_back(
          fmt::format("run.collect is \"listed\" ({}), but run.collect_paths lists nothing", origin_of("run.collect")));
    }
  }

  Error failure() const {
    const std::string hint =
        "fix what is named here; docs/configuration.md and `guard init` have every key with its default";
    if (faults_.size() == 1) return Error(ErrorCode::config_invalid, faults_[0]).hint(hint);
    return Error(
        ErrorCode::config_invalid, fmt::format("{} faults\n    {}", faults_.size(), fmt::join(faults_, "\n    ")))
        .hint(hint);
  }

  void list_entries() {
    for (const auto& key : config_keys()) {
      const std::string name = key.dotted();
      if (key.type == KeyType::variables && !config().run.env.empty()) {
        for (const auto& [variable, value] : config().run.env) {
          loaded_.entries.push_back({fmt::format("{}.{}", name, variable),
              value.inherited ? "true" : toml_string(fmt::format("[REDACTED:env:{}]", variable)),
              origin_of(std::string(kVariableSection) + variable)});
        }
      } else if (key.type == KeyType::waivers && !config().check.waivers.empty()) {
        for (std::size_t i = 0; i < config().check.waivers.size(); ++i) {
          const auto& waiver = config().check.waivers[i];
          loaded_.entries.push_back({fmt::format("{}[{}]", name, i),
              toml_string(
                  fmt::format("{} in {} until {}: {}", waiver.rule, waiver.path, waiver.expires, waiver.reason)),
              waiver.origin});
        }
      } else {
        loaded_.entries.push_back({name, toml_literal(key, config()), origin_of(name)});
      }
    }
  }

  // Whether it was said by the file alone: the environment and the options are a person's own, and an item that they
  // add to a list takes the file's items along in the few keys that add up, none of which can relax anything.
  void list_relaxations() {
    for (const auto& key : config_keys()) {
      const auto said = from_file_.find(&key);
      if (said == from_file_.end() || !key.relaxes(key, config())) continue;
      const std::string literal = toml_literal(key, config());
      const bool hidden = key.type == KeyType::variables || key.type == KeyType::waivers;
      loaded_.relaxations.push_back(fmt::format(
          "{}{} ({}:{})", key.dotted(), hidden ? std::string() : " = " + literal, file_name_, said->second));
    }
  }

  LoadedConfig loaded_;
  std::string file_name_;
  std::map<std::string, std::string> origins_;  // by key; absent: the default
  enum Rank : int { kDefaultRank, kFileRank, kEnvironmentRank, kOptionRank };
  std::map<const ConfigKey*, Rank> ranks_;               // what said a key's value
  std::map<const ConfigKey*, std::uint32_t> from_file_;  // the line of each key whose value is the file's
  std::vector<std::string> faults_;
};

}  // namespace

std::string_view to_string(BackendName name) noexcept {
  switch (name) {
    case BackendName::docker: return "docker";
    case BackendName::namespace_sandbox: return "namespace";
    case BackendName::host: return "host";
    case BackendName::container_use: return "container-use";
  }
  return "?";
}

std::string_view to_string(FallbackName name) noexcept {
  switch (name) {
    case FallbackName::namespace_sandbox: return "namespace";
    case FallbackName::host: return "host";
    case FallbackName::container_use: return "container-use";
    case FallbackName::none: return "none";
  }
  return "?";
}

std::string_view to_string(NetworkMode mode) noexcept {
  switch (mode) {
    case NetworkMode::none: return "none";
    case NetworkMode::bridge: return "bridge";
    case NetworkMode::host: return "host";
  }
  return "?";
}

std::string_view to_string(CollectPolicy policy) noexcept {
  switch (policy) {
    case CollectPolicy::none: return "none";
    case CollectPolicy::listed: return "listed";
    case CollectPolicy::all: return "all";
  }
  return "?";
}

const ConfigEntry* LoadedConfig::find(std::string_view key) const noexcept {
  for (const auto& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

Result<LoadedConfig> load_config(const ConfigSources& sources) { return Loader().load(sources); }

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
