// TOML values -> Rule and Fact. Every key is read by exactly one line of the tables below; a key that no line asked for
// is a fault, so a misspelt `no_match` can't quietly prove nothing.

#include "rules/rule_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <system_error>

#include "common/file_io.h"
#include "common/text/text.h"
#include "common/text/toml_file.h"
#include "rules/matching/regex_dialect.h"

namespace guard {
namespace {

constexpr std::uint64_t kRuleFileBytesMax = 4u << 20;  // the whole of our own rules is a tenth of it
constexpr std::int64_t kRepeatsMax = 4096;

bool is_id(std::string_view id) {
  bool word_start = true;  // a letter has to follow at the very beginning, letters, digits or _ after a dot
  bool first = true;
  int dots = 0;
  for (const char c : id) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool other = (c >= '0' && c <= '9') || c == '_';
    if (first && !lower) return false;
    if (c == '.') {
      if (word_start) return false;
      ++dots;
      word_start = true;
    } else {
      if (!lower && !other) return false;
      word_start = false;
    }
    first = false;
  }
  return dots > 0 && !word_start;
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
  for (const char c : name) {
    if (c == '*') {
      out += "[\\w.-]+";
    } else {
      if (c == '.') out += '\\';
      out += c;
    }
  }
  return out;
}

// Parts of patterns that many rules share, by name. Rules of all files use them.
using Definitions = std::map<std::string, std::string>;

class Reader {
 public:
  Reader(std::string_view file, std::vector<std::string>& faults) : file_(file), faults_(faults) {}

  void define(const TomlValue& root, Definitions& definitions) {
    const TomlValue* entries = root.find("define");
    if (entries == nullptr) return;
    if (entries->kind != TomlValue::Kind::table) return expected(*entries, "a table");
    for (const TomlMember& member : entries->members) {
      if (member.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string::npos) {
        fault(member.line, member.column, "a definition's name has lower-case letters and _ only");
      } else if (!definitions.emplace(member.key, text(&member.value)).second) {
        fault(member.line, member.column, fmt::format("{} is defined twice", member.key));
      }
    }
  }

  // What a list of packages stands for in a pattern: a specifier in quotes.
  void define_packages(const TomlValue& root, Definitions& definitions) {
    const TomlValue* lists = root.find("packages");
    if (lists == nullptr) return;
    if (lists->kind != TomlValue::Kind::table) return expected(*lists, "a table");
    for (const TomlMember& list : lists->members) {
      std::vector<std::string> names = texts(&list.value);
      for (std::string& name : names) {
        if (!is_package_name(name))
          fault(list.line, list.column, fmt::format("\"{}\" is no name of a package", printable(name)));
        name = package_regex(name);
      }
      if (names.empty()) {
        fault(list.line, list.column, "a list of packages is expected");
      } else if (!definitions
                      .emplace(list.key,
                          fmt::format(R"r("(?:node:|npm:)?(?:{})(?:@[^"/]*)?(?:/[^"]*)?")r", fmt::join(names, "|")))
                      .second) {
        fault(list.line, list.column, fmt::format("{} is defined twice", list.key));
      }
    }
  }

  void read(const TomlValue& root, const Definitions& definitions, std::vector<Rule>& rules, std::vector<Fact>& facts) {
    definitions_ = &definitions;
    Table table(*this, root);
    table.take("define");
    table.take("packages");
    for (const TomlValue& entry : tables(table.take("fact"))) facts.push_back(fact(entry));
    for (const TomlValue& entry : tables(table.take("rule"))) rules.push_back(rule(entry));
  }

 private:
  // A table whose keys are taken one by one; whatever is left at the end is unknown.
  class Table {
   public:
    Table(Reader& reader, const TomlValue& value) : reader_(reader), value_(value) {}
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;
    ~Table() {
      for (const TomlMember& member : value_.members) {
        if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
        const std::string_view near = nearest_word(member.key, known_);
        reader_.fault(member.line, member.column,
            fmt::format("unknown key \"{}\"{}", printable(member.key),
                near.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", near)));
      }
    }

    const TomlValue* take(std::string_view key) {
      known_.push_back(key);
      return value_.find(key);
    }
    const TomlValue& value() const { return value_; }

   private:
    Reader& reader_;
    const TomlValue& value_;
    std::vector<std::string_view> known_;
  };

  void fault(std::uint32_t line, std::uint32_t column, std::string_view sentence) {
    faults_.push_back(toml_complaint(file_, line, column, sentence));
  }
  void fault(const TomlValue& at, std::string_view sentence) { fault(at.line, at.column, sentence); }
  void expected(const TomlValue& at, std::string_view what) {
    fault(at, fmt::format("expected {}, found {}", what, at.kind_name()));
  }

  // The tables of an array of tables; none where the key is absent.
  std::vector<TomlValue> tables(const TomlValue* value) {
    std::vector<TomlValue> out;
    if (value == nullptr) return out;
    if (value->kind != TomlValue::Kind::array) {
      expected(*value, "an array of tables ([[...]])");
      return out;
    }
    for (const TomlValue& item : value->items) {
      if (item.kind == TomlValue::Kind::table) {
        out.push_back(item);
      } else {
        expected(item, "a table");
      }
    }
    return out;
  }

  std::string text(const TomlValue* value) {
    if (value == nullptr) return {};
    if (value->kind != TomlValue::Kind::string) {
      expected(*value, "a string");
      return {};
    }
    if (value->text.find_first_not_of(" \t\r\n") == std::string::npos) fault(*value, "an empty text");
    return value->text;
  }

  std::vector<std::string> texts(const TomlValue* value) {
    std::vector<std::string> out;
    if (value == nullptr) return out;
    if (value->kind != TomlValue::Kind::array) {
      expected(*value, "an array of strings");
      return out;
    }
    for (const TomlValue& item : value->items) out.push_back(text(&item));
    return out;
  }

  // With `(?&name)` replaced by what is defined under that name; the dialect has no other use for these bytes.
  std::string expanded(const TomlValue& value, std::string text) {
    constexpr std::string_view opening = "(?&";
    for (std::size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at)) {
      const std::size_t end = std::min(text.find(')', at), text.size());
      const std::string name = text.substr(at + opening.size(), end - at - opening.size());
      const auto found = definitions_->find(name);
      if (found == definitions_->end()) {
        fault(value, fmt::format("\"{}\" is not defined", printable(name)));
        return {};
      }
      const std::string group = fmt::format("(?:{})", found->second);
      text.replace(at, end + 1 - at, group);
      at += group.size();  // a definition is not looked into: none can use itself
    }
    return text;
  }

  template <typename Choice>
  bool choose(const TomlValue& value, std::initializer_list<Choice> choices, Choice& out) {
    if (value.kind != TomlValue::Kind::string) {
      expected(value, "a string");
      return false;
    }
    std::vector<std::string_view> names;
    for (const Choice choice : choices) {
      names.push_back(to_string(choice));
      if (value.text == names.back()) {
        out = choice;
        return true;
      }
    }
    const std::string_view near = nearest_word(value.text, names);
    fault(value,
        fmt::format("\"{}\" is none of {}{}", printable(value.text), fmt::join(names, ", "),
            near.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", near)));
    return false;
  }

  template <typename Owner>
  void identity(Table& table, Owner& out, std::string_view what) {
    out.file = std::string(file_);
    out.line = table.value().line;
    out.column = table.value().column;
    const TomlValue* id = table.take("id");
    if (id == nullptr) {
      fault(table.value(), fmt::format("a {} without an id", what));
      return;
    }
    out.id = text(id);
    out.line = id->line;
    out.column = id->column;
    if (!out.id.empty() && !is_id(out.id)) {
      fault(*id,
          fmt::format(
              "\"{}\" is no id: lower-case words joined by dots, such as \"always.env_dump\"", printable(out.id)));
    }
  }

  std::vector<Pattern> patterns(const TomlValue* value) {
    std::vector<Pattern> out;
    for (const TomlValue& entry : tables(value)) {
      Pattern pattern;
      Table table(*this, entry);
      views(table, pattern);
      if (const TomlValue* capture = table.take("capture")) {
        if (capture->kind != TomlValue::Kind::integer || capture->integer < 0 || capture->integer > 15) {
          fault(*capture, "capture is the number of a group, 0 to 15");
        } else {
          pattern.capture = static_cast<std::uint16_t>(capture->integer);
        }
      }
      const TomlValue* regex = table.take("regex");
      if (regex == nullptr) {
        fault(entry, "a pattern without a regex");
        continue;
      }
      pattern.regex = expanded(*regex, text(regex));
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
    return out;
  }

  void views(Table& table, Pattern& pattern) {
    const TomlValue* value = table.take("views");
    if (value == nullptr) {
      fault(table.value(), "a pattern without views (\"raw\", \"code\", \"strings\")");
      return;
    }
    if (value->kind != TomlValue::Kind::array || value->items.empty()) {
      expected(*value, "an array of at least one view");
      return;
    }
    for (const TomlValue& item : value->items) {
      View view{};
      if (!choose(item, {View::raw, View::code, View::strings, View::commands, View::uses}, view)) continue;
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
  std::vector<Example> examples(const TomlValue* value) {
    std::vector<Example> out;
    if (value == nullptr) return out;
    if (value->kind != TomlValue::Kind::array) {
      expected(*value, "an array of examples");
      return out;
    }
    for (const TomlValue& item : value->items) {
      Example example;
      if (item.kind == TomlValue::Kind::string) {
        example.text = text(&item);
      } else if (item.kind == TomlValue::Kind::table) {
        Table table(*this, item);
        const TomlValue* whole = table.take("text");
        const TomlValue* parts = table.take("parts");
        if ((whole == nullptr) == (parts == nullptr)) fault(item, "an example has either text or parts");
        if (whole != nullptr) example.text = text(whole);
        if (parts != nullptr) example.text = joined(*parts);
        if (const TomlValue* path = table.take("path")) example.path = text(path);
      } else {
        expected(item, "a string or a table");
        continue;
      }
      out.push_back(std::move(example));
    }
    return out;
  }

  std::string joined(const TomlValue& parts) {
    std::string out;
    if (parts.kind != TomlValue::Kind::array || parts.items.empty()) {
      expected(parts, "an array of parts");
      return out;
    }
    for (const TomlValue& part : parts.items) {
      if (part.kind == TomlValue::Kind::string) {
        out += part.text;
        continue;
      }
      if (part.kind != TomlValue::Kind::table) {
        expected(part, "a string or { repeat = \"...\", times = N }");
        continue;
      }
      Table table(*this, part);
      const TomlValue* repeat = table.take("repeat");
      const TomlValue* times = table.take("times");
      if (repeat == nullptr || repeat->kind != TomlValue::Kind::string || times == nullptr ||
          times->kind != TomlValue::Kind::integer || times->integer < 1 || times->integer > kRepeatsMax) {
        fault(part, fmt::format("a repeated part is {{ repeat = \"...\", times = 1 to {} }}", kRepeatsMax));
        continue;
      }
      for (std::int64_t i = 0; i < times->integer; ++i) out += repeat->text;
    }
    return out;
  }

  std::map<std::string, std::string> hints(const TomlValue* value) {
    std::map<std::string, std::string> out;
    if (value == nullptr) return out;
    if (value->kind != TomlValue::Kind::table) {
      expected(*value, "a table");
      return out;
    }
    for (const TomlMember& member : value->members) {
      switch (member.value.kind) {
        case TomlValue::Kind::string: out[member.key] = expanded(member.value, member.value.text); break;
        case TomlValue::Kind::integer: out[member.key] = std::to_string(member.value.integer); break;
        case TomlValue::Kind::boolean: out[member.key] = member.value.boolean ? "true" : "false"; break;
        default: expected(member.value, "a string, an integer or a boolean");
      }
    }
    return out;
  }

  Fact fact(const TomlValue& entry) {
    Fact out;
    Table table(*this, entry);
    identity(table, out, "fact");
    out.title = text(table.take("title"));
    out.patterns = patterns(table.take("patterns"));
    out.match = examples(table.take("match"));
    out.no_match = examples(table.take("no_match"));
    if (out.title.empty()) fault(entry, fmt::format("{} has no title", name_of(out.id)));
    if (out.patterns.empty()) fault(entry, fmt::format("{} has no patterns", name_of(out.id)));
    proofs(entry, out);
    return out;
  }

  Rule rule(const TomlValue& entry) {
    Rule out;
    Table table(*this, entry);
    identity(table, out, "rule");
    tier_and_severity(table, out);
    out.title = text(table.take("title"));
    out.why = text(table.take("why"));
    out.fix = text(table.take("fix"));
    const TomlValue* own = table.take("patterns");
    const TomlValue* all_of = table.take("all_of");
    out.patterns = patterns(own);
    out.all_of = texts(all_of);
    out.needs = texts(table.take("needs"));
    out.paths = texts(table.take("paths"));
    out.references = texts(table.take("references"));
    out.match = examples(table.take("match"));
    out.no_match = examples(table.take("no_match"));
    const TomlValue* kind = table.take("kind");
    const TomlValue* redact = table.take("redact");
    out.kind = text(kind);
    out.redact = hints(redact);

    if ((own == nullptr) == (all_of == nullptr)) {
      fault(entry, fmt::format("{} needs either patterns or all_of", name_of(out.id)));
    } else if (own != nullptr && out.patterns.empty() && own->items.empty()) {
      fault(*own, fmt::format("{} has no patterns", name_of(out.id)));
    } else if (all_of != nullptr && out.all_of.size() < 2) {
      fault(*all_of, "all_of joins at least two facts");
    }
    if (out.title.empty()) fault(entry, fmt::format("{} has no title", name_of(out.id)));
    if (out.tier == Tier::secret) {
      if (kind == nullptr)
        fault(entry, fmt::format("{} has no kind: the redactor's marker needs a name", name_of(out.id)));
      if (all_of != nullptr) fault(*all_of, "a secret has patterns, not all_of");
    } else {
      if (kind != nullptr) fault(*kind, "only a rule of tier \"secret\" has a kind");
      if (redact != nullptr) fault(*redact, "only a rule of tier \"secret\" has hints to the redactor");
      if (out.why.empty()) fault(entry, fmt::format("{} does not say why", name_of(out.id)));
      if (out.fix.empty()) fault(entry, fmt::format("{} does not say how to fix it", name_of(out.id)));
      proofs(entry, out);
    }
    if (out.tier == Tier::banned || out.tier == Tier::secret) {
      for (const Pattern& pattern : out.patterns) {
        if (pattern.views != std::vector<View>{View::raw}) {
          fault(entry,
              fmt::format("{}: patterns of tier \"{}\" look at views = [\"raw\"] and nothing else", name_of(out.id),
                  to_string(out.tier)));
          break;
        }
      }
    }
    return out;
  }

  void tier_and_severity(Table& table, Rule& out) {
    const TomlValue* tier = table.take("tier");
    const TomlValue* severity = table.take("severity");
    bool note = false;
    if (severity != nullptr) {
      if (severity->kind == TomlValue::Kind::string && severity->text == "note") {
        note = true;
      } else if (severity->kind != TomlValue::Kind::string || severity->text != "block") {
        fault(*severity, "severity is \"block\" or \"note\"");
      }
    }
    if (tier == nullptr) {
      // An extra pack may advise: such a rule belongs to no tier, is looked for always and never decides a verdict.
      if (!note) fault(table.value(), "a rule without a tier (only rules with severity = \"note\" have none)");
    } else if (choose(*tier, {Tier::always, Tier::docker, Tier::host, Tier::banned, Tier::secret}, out.tier) && note) {
      fault(*severity, fmt::format("tier \"{}\" always blocks: nobody reads advice at night", to_string(out.tier)));
    }
    out.severity = note ? Severity::note : Severity::block;
  }

  template <typename Owner>
  void proofs(const TomlValue& entry, const Owner& owner) {
    if (owner.match.empty()) fault(entry, fmt::format("{} has no match example", name_of(owner.id)));
    if (owner.no_match.empty()) fault(entry, fmt::format("{} has no no_match example", name_of(owner.id)));
  }

  static std::string name_of(const std::string& id) { return id.empty() ? "this entry" : printable(id); }

  std::string_view file_;
  std::vector<std::string>& faults_;
  const Definitions* definitions_ = nullptr;
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
    for (const File& file : files) {
      Reader(file.name, faults).define(file.root, definitions);
      Reader(file.name, faults).define_packages(file.root, definitions);
    }
    std::vector<Rule> rules;
    std::vector<Fact> facts;
    for (const File& file : files) Reader(file.name, faults).read(file.root, definitions, rules, facts);
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
