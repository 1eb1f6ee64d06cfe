// TOML values -> Rule and Fact. A table is read by a list of fields, each a key and what its value is read into; a key
// that no field has is a fault, so a misspelt `no_match` can't quietly prove nothing.

#include "rules/rule_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <system_error>

#include "common/file_io.h"
#include "common/text/text.h"
#include "common/text/toml_file.h"
#include "rules/matching/regex_dialect.h"

namespace guard {
namespace {

constexpr std::uint64_t kRuleFileBytesMax = 4u << 20;  // the whole of our own rules is a tenth of it
constexpr std::int64_t kRepeatsMax = 4096;

// Lower-case words joined by dots, two at least; the first begins with a letter.
bool is_id(std::string_view id) {
  return !id.empty() && id[0] >= 'a' && id[0] <= 'z' && id.back() != '.' && id.find("..") == std::string_view::npos &&
      id.find('.') != std::string_view::npos &&
      id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == std::string_view::npos;
}

bool is_package_name(std::string_view name) {
  const auto may_be = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
        std::string_view("@/._:-").find(c) != std::string_view::npos;
  };
  if (name.ends_with('*')) name.remove_suffix(1);
  return !name.empty() && std::all_of(name.begin(), name.end(), may_be);
}

// A package's name as a regex: `*` at its end stands for the rest of a name.
std::string package_regex(std::string_view name) {
  std::string out;
  for (const char c : name) out += c == '*' ? "[\\w.-]+" : c == '.' ? "\\." : std::string(1, c);
  return out;
}

// Parts of patterns that many rules share, by name. Rules of all files use them.
using Definitions = std::map<std::string, std::string>;

class Reader {
 public:
  Reader(std::string_view file, Definitions& definitions, std::vector<std::string>& faults)
      : file_(file), definitions_(definitions), faults_(faults) {}

  // Before any rule of any file is read.
  void define(const TomlValue& root) {
    for (const TomlMember& member : members(root.find("define"))) {
      if (member.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string::npos) {
        fault(member, "a definition's name has lower-case letters and _ only");
      } else {
        define(member, text(member.value));
      }
    }
    // What a list of packages stands for in a pattern: a specifier in quotes.
    for (const TomlMember& list : members(root.find("packages"))) {
      std::vector<std::string> names = texts(list.value);
      for (std::string& name : names) {
        if (!is_package_name(name)) fault(list, fmt::format("\"{}\" is no name of a package", printable(name)));
        name = package_regex(name);
      }
      if (names.empty()) {
        fault(list, "a list of packages is expected");
      } else {
        define(list, fmt::format(R"r("(?:node:|npm:)?(?:{})(?:@[^"/]*)?(?:/[^"]*)?")r", fmt::join(names, "|")));
      }
    }
  }

  void read(const TomlValue& root, std::vector<Rule>& rules, std::vector<Fact>& facts) {
    fields(root,
        {{"define", {}}, {"packages", {}},
            {"fact", each_table([&](const TomlValue& entry) { facts.push_back(fact(entry)); })},
            {"rule", each_table([&](const TomlValue& entry) { rules.push_back(rule(entry)); })}});
  }

 private:
  using Read = std::function<void(const TomlValue&)>;
  struct Field {
    std::string_view key;
    Read read;
  };

  template <typename Place>
  void fault(const Place& at, std::string_view sentence) {
    faults_.push_back(toml_complaint(file_, at.line, at.column, sentence));
  }
  void expected(const TomlValue& value, std::string_view what) {
    fault(value, fmt::format("expected {}, found {}", what, value.kind_name()));
  }
  bool is_a(const TomlValue& value, TomlValue::Kind kind, std::string_view what) {
    if (value.kind != kind) expected(value, what);
    return value.kind == kind;
  }
  static std::string hint(std::string_view near) {
    return near.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", near);
  }

  // ---- values: what a field reads, and into what ----

  // Each field of the table once, in the order of the list: `tier` decides what others mean.
  void fields(const TomlValue& table, const std::vector<Field>& list) {
    std::vector<std::string_view> keys;
    for (const Field& field : list) {
      keys.push_back(field.key);
      const TomlValue* const value = table.find(field.key);
      if (value != nullptr && field.read) field.read(*value);
    }
    for (const TomlMember& member : table.members) {
      if (std::find(keys.begin(), keys.end(), member.key) != keys.end()) continue;
      fault(member, fmt::format("unknown key \"{}\"{}", printable(member.key), hint(nearest_word(member.key, keys))));
    }
  }

  Read each_table(Read read) {
    return [this, read = std::move(read)](const TomlValue& value) {
      if (!is_a(value, TomlValue::Kind::array, "an array of tables ([[...]])")) return;
      for (const TomlValue& item : value.items) {
        if (is_a(item, TomlValue::Kind::table, "a table")) read(item);
      }
    };
  }
  template <typename Text>
  Read into(Text& out) {
    return [this, &out](const TomlValue& value) { out = text(value); };
  }
  Read into(std::vector<std::string>& out) {
    return [this, &out](const TomlValue& value) { out = texts(value); };
  }
  Read into(std::vector<Pattern>& out) {
    return each_table([this, &out](const TomlValue& entry) { pattern(entry, out); });
  }
  Read into(std::vector<Example>& out) {
    return [this, &out](const TomlValue& value) {
      if (!is_a(value, TomlValue::Kind::array, "an array of examples")) return;
      for (const TomlValue& item : value.items) example(item, out);
    };
  }

  std::vector<TomlMember> members(const TomlValue* table) {
    if (table == nullptr || !is_a(*table, TomlValue::Kind::table, "a table")) return {};
    return table->members;
  }

  std::string text(const TomlValue& value) {
    if (!is_a(value, TomlValue::Kind::string, "a string")) return {};
    if (value.text.find_first_not_of(" \t\r\n") == std::string::npos) fault(value, "an empty text");
    return value.text;
  }

  std::vector<std::string> texts(const TomlValue& value) {
    std::vector<std::string> out;
    if (!is_a(value, TomlValue::Kind::array, "an array of strings")) return out;
    for (const TomlValue& item : value.items) out.push_back(text(item));
    return out;
  }

  template <typename Choice, std::size_t N>
  bool choose(const TomlValue& value, const Choice (&choices)[N], Choice& out) {
    if (!is_a(value, TomlValue::Kind::string, "a string")) return false;
    std::vector<std::string_view> names;
    for (const Choice choice : choices) {
      names.push_back(to_string(choice));
      if (value.text != names.back()) continue;
      out = choice;
      return true;
    }
    fault(value,
        fmt::format("\"{}\" is none of {}{}", printable(value.text), fmt::join(names, ", "),
            hint(nearest_word(value.text, names))));
    return false;
  }

  // ---- definitions ----

  void define(const TomlMember& at, std::string regex) {
    if (!definitions_.emplace(at.key, std::move(regex)).second) fault(at, fmt::format("{} is defined twice", at.key));
  }

  // With `(?&name)` replaced by what is defined under that name; the dialect has no other use for these bytes.
  std::string expanded(const TomlValue& value, std::string text) {
    constexpr std::string_view opening = "(?&";
    for (std::size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at)) {
      const std::size_t end = std::min(text.find(')', at), text.size());
      const std::string name = text.substr(at + opening.size(), end - at - opening.size());
      const auto found = definitions_.find(name);
      if (found == definitions_.end()) {
        fault(value, fmt::format("\"{}\" is not defined", printable(name)));
        return {};
      }
      const std::string group = fmt::format("(?:{})", found->second);
      text.replace(at, end + 1 - at, group);
      at += group.size();  // a definition is not looked into: none can use itself
    }
    return text;
  }

  // ---- patterns and examples ----

  void pattern(const TomlValue& entry, std::vector<Pattern>& out) {
    Pattern pattern;
    const TomlValue* const regex = entry.find("regex");
    const auto capture = [&](const TomlValue& value) {
      if (value.kind != TomlValue::Kind::integer || value.integer < 0 || value.integer > 15) {
        fault(value, "capture is the number of a group, 0 to 15");
      } else {
        pattern.capture = static_cast<std::uint16_t>(value.integer);
      }
    };
    fields(entry,
        {{"views", [&](const TomlValue& value) { views(value, pattern); }}, {"capture", capture},
            {"regex", [&](const TomlValue& value) { pattern.regex = expanded(value, text(value)); }}});
    if (entry.find("views") == nullptr) fault(entry, "a pattern without views (\"raw\", \"code\", \"strings\")");
    if (regex == nullptr) return fault(entry, "a pattern without a regex");
    pattern.line = regex->line;
    pattern.column = regex->column;
    RegexFault problem;
    if (!pattern.regex.empty() && !check_pattern(pattern, problem)) {
      fault(*regex,
          problem.offset == 0 ? problem.sentence
                              : fmt::format("{} (at byte {} of the regex)", problem.sentence, problem.offset + 1));
    }
    out.push_back(std::move(pattern));
  }

  void views(const TomlValue& value, Pattern& pattern) {
    if (value.items.empty()) return expected(value, "an array of at least one view");
    for (const TomlValue& item : value.items) {
      View view{};
      if (!choose(item, kAllViews, view)) continue;
      if (std::find(pattern.views.begin(), pattern.views.end(), view) != pattern.views.end()) {
        fault(item, fmt::format("the view \"{}\" is named twice", to_string(view)));
      } else {
        pattern.views.push_back(view);
      }
    }
    std::sort(pattern.views.begin(), pattern.views.end());
  }

  // "text", or { text = "...", path = "..." }, or { parts = ["sk-", { repeat = "a", times = 40 }] }: a secret's shape
  // must not stand in our own files in one piece.
  void example(const TomlValue& item, std::vector<Example>& out) {
    Example example;
    if (item.kind == TomlValue::Kind::string) {
      example.text = text(item);
    } else if (is_a(item, TomlValue::Kind::table, "a string or a table")) {
      if ((item.find("text") == nullptr) == (item.find("parts") == nullptr))
        fault(item, "an example has either text or parts");
      fields(item,
          {{"text", into(example.text)}, {"parts", [&](const TomlValue& parts) { example.text = joined(parts); }},
              {"path", into(example.path)}});
    } else {
      return;
    }
    out.push_back(std::move(example));
  }

  std::string joined(const TomlValue& parts) {
    std::string out;
    if (parts.items.empty()) expected(parts, "an array of parts");
    for (const TomlValue& part : parts.items) {
      if (part.kind == TomlValue::Kind::string) {
        out += part.text;
        continue;
      }
      if (!is_a(part, TomlValue::Kind::table, "a string or { repeat = \"...\", times = N }")) continue;
      fields(part, {{"repeat", {}}, {"times", {}}});
      const TomlValue* repeat = part.find("repeat");
      const TomlValue* times = part.find("times");
      if (repeat == nullptr || repeat->kind != TomlValue::Kind::string || times == nullptr ||
          times->kind != TomlValue::Kind::integer || times->integer < 1 || times->integer > kRepeatsMax) {
        fault(part, fmt::format("a repeated part is {{ repeat = \"...\", times = 1 to {} }}", kRepeatsMax));
        continue;
      }
      for (std::int64_t i = 0; i < times->integer; ++i) out += repeat->text;
    }
    return out;
  }

  void hints(const TomlValue& value, std::map<std::string, std::string>& out) {
    for (const TomlMember& member : members(&value)) {
      switch (member.value.kind) {
        case TomlValue::Kind::string: out[member.key] = expanded(member.value, member.value.text); break;
        case TomlValue::Kind::integer: out[member.key] = std::to_string(member.value.integer); break;
        case TomlValue::Kind::boolean: out[member.key] = member.value.boolean ? "true" : "false"; break;
        default: expected(member.value, "a string, an integer or a boolean");
      }
    }
  }

  // ---- facts and rules ----

  // What both have.
  template <typename Owner>
  std::vector<Field> common_fields(const TomlValue& entry, Owner& out, std::string_view what) {
    out.file = std::string(file_);
    out.line = entry.line;
    out.column = entry.column;
    const auto id = [this, &out](const TomlValue& value) {
      out.id = text(value);
      out.line = value.line;
      out.column = value.column;
      if (out.id.empty() || is_id(out.id)) return;
      fault(value,
          fmt::format(
              "\"{}\" is no id: lower-case words joined by dots, such as \"always.env_dump\"", printable(out.id)));
    };
    if (entry.find("id") == nullptr) fault(entry, fmt::format("a {} without an id", what));
    return {{"id", id}, {"title", into(out.title)}, {"patterns", into(out.patterns)}, {"match", into(out.match)},
        {"no_match", into(out.no_match)}};
  }  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the map owns the functions

  static std::string name_of(const std::string& id) { return id.empty() ? "this entry" : printable(id); }

  template <typename Owner>
  void wants(const TomlValue& entry, const Owner& owner, bool there, std::string_view sentence) {
    if (!there) fault(entry, fmt::format("{} {}", name_of(owner.id), sentence));
  }
  template <typename Owner>
  void wants_proofs(const TomlValue& entry, const Owner& owner) {
    wants(entry, owner, !owner.match.empty(), "has no match example");
    wants(entry, owner, !owner.no_match.empty(), "has no no_match example");
  }

  Fact fact(const TomlValue& entry) {
    Fact out;
    fields(entry, common_fields(entry, out, "fact"));
    wants(entry, out, !out.title.empty(), "has no title");
    wants(entry, out, !out.patterns.empty(), "has no patterns");
    wants_proofs(entry, out);
    return out;
  }

  Rule rule(const TomlValue& entry) {
    Rule out;
    std::vector<Field> list = common_fields(entry, out, "rule");
    list.insert(list.end(),
        {{"tier", {}}, {"severity", {}}, {"why", into(out.why)}, {"fix", into(out.fix)}, {"all_of", into(out.all_of)},
            {"needs", into(out.needs)}, {"paths", into(out.paths)}, {"references", into(out.references)},
            {"kind", into(out.kind)}, {"redact", [&](const TomlValue& value) { hints(value, out.redact); }}});
    fields(entry, list);
    tier_and_severity(entry, out);
    wants(entry, out, !out.title.empty(), "has no title");
    check_parts(entry, out);
    if (out.tier == Tier::secret) {
      wants(entry, out, entry.find("kind") != nullptr, "has no kind: the redactor's marker needs a name");
    } else {
      wants(entry, out, !out.why.empty(), "does not say why");
      wants(entry, out, !out.fix.empty(), "does not say how to fix it");
      wants_proofs(entry, out);
    }
    const bool raw_only = std::all_of(out.patterns.begin(), out.patterns.end(),
        [](const Pattern& pattern) { return pattern.views == std::vector<View>{View::raw}; });
    if (!raw_only && (out.tier == Tier::banned || out.tier == Tier::secret)) {
      fault(entry,
          fmt::format("{}: patterns of tier \"{}\" look at views = [\"raw\"] and nothing else", name_of(out.id),
              to_string(out.tier)));
    }
    return out;
  }

  // Which fields may stand beside each other.
  void check_parts(const TomlValue& entry, const Rule& out) {
    const TomlValue* const own = entry.find("patterns");
    const TomlValue* const all_of = entry.find("all_of");
    if ((own == nullptr) == (all_of == nullptr)) {
      wants(entry, out, false, "needs either patterns or all_of");
    } else if (own != nullptr) {
      wants(*own, out, !out.patterns.empty() || !own->items.empty(), "has no patterns");
    } else if (out.all_of.size() < 2) {
      fault(*all_of, "all_of joins at least two facts");
    }
    if (out.tier == Tier::secret && all_of != nullptr) fault(*all_of, "a secret has patterns, not all_of");
    if (out.tier == Tier::secret) return;
    if (const auto* kind = entry.find("kind")) fault(*kind, "only a rule of tier \"secret\" has a kind");
    if (const auto* redact = entry.find("redact"))
      fault(*redact, "only a rule of tier \"secret\" has hints to the redactor");
  }

  void tier_and_severity(const TomlValue& entry, Rule& out) {
    const TomlValue* const tier = entry.find("tier");
    const TomlValue* const severity = entry.find("severity");
    const bool note = severity != nullptr && severity->text == "note";
    if (severity != nullptr && !note && severity->text != "block")
      fault(*severity, "severity is \"block\" or \"note\"");
    constexpr Tier kTiers[] = {Tier::always, Tier::docker, Tier::host, Tier::banned, Tier::secret};
    if (tier == nullptr) {
      // An extra pack may advise: such a rule belongs to no tier, is looked for always and never decides a verdict.
      if (!note) fault(entry, "a rule without a tier (only rules with severity = \"note\" have none)");
    } else if (choose(*tier, kTiers, out.tier) && note) {
      fault(*severity, fmt::format("tier \"{}\" always blocks: nobody reads advice at night", to_string(out.tier)));
    }
    out.severity = note ? Severity::note : Severity::block;
  }

  std::string_view file_;
  Definitions& definitions_;
  std::vector<std::string>& faults_;
};

struct Loading {
  struct File {
    std::string name;
    TomlValue root;
  };
  std::vector<File> files;
  std::vector<std::string> faults;

  void add(std::string_view text, std::string_view name) {
    auto root = parse_toml(text, name);
    if (root) {
      files.push_back({std::string(name), std::move(*root)});
    } else {
      faults.push_back(root.error().message());
    }
  }

  Result<RuleSet> finish() && {
    Definitions definitions;
    std::vector<Rule> rules;
    std::vector<Fact> facts;
    for (const File& file : files) Reader(file.name, definitions, faults).define(file.root);
    for (const File& file : files) Reader(file.name, definitions, faults).read(file.root, rules, facts);
    for (std::string& fault : set_faults(rules, facts)) faults.push_back(std::move(fault));
    if (!faults.empty()) return Error(ErrorCode::rules_invalid, fmt::format("{}", fmt::join(faults, "\n")));
    return RuleSet::create(std::move(rules), std::move(facts));
  }
};

}  // namespace

Result<RuleSet> load_rules(const std::filesystem::path& folder) {
  std::error_code problem;
  const auto status = std::filesystem::status(folder, problem);
  if (status.type() == std::filesystem::file_type::not_found) {
    return Error(ErrorCode::file_not_found, fmt::format("no rules folder {}", printable(folder.string())));
  }
  if (!std::filesystem::is_directory(status)) {
    return Error(ErrorCode::rules_invalid, fmt::format("{} is not a folder of rules", printable(folder.string())));
  }
  std::vector<std::filesystem::path> files;
  std::filesystem::recursive_directory_iterator at(folder, problem);
  for (const auto end = std::filesystem::recursive_directory_iterator(); !problem && at != end; at.increment(problem)) {
    const auto name = at->path().filename();  // two of our own files hold no rules, but what surface_compiler reads
    if (name.extension() == ".toml" && name != "runtime_api.toml" && name != "word_lists.toml")
      files.push_back(at->path());
  }
  if (problem) {
    return Error::from_errno(
        ErrorCode::io_error, fmt::format("listing {}", printable(folder.string())), problem.value());
  }
  std::sort(files.begin(), files.end());

  Loading loading;
  for (const auto& file : files) {
    const std::string name = (folder / file.lexically_relative(folder)).string();
    const auto text = read_file(file, kRuleFileBytesMax);
    if (text) {
      loading.add(*text, name);
    } else {
      loading.faults.push_back(fmt::format("{}: {}", printable(name), text.error().message()));
    }
  }
  return std::move(loading).finish();
}

Result<RuleSet> parse_rules(std::string_view text, std::string_view name) {
  Loading loading;
  loading.add(text, name);
  return std::move(loading).finish();
}

}  // namespace guard
