// `guard rules`: what is forbidden, why, and what to write instead; and the proof that each rule does what it says.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/commands/check_session.h"
#include "cli/commands/commands.h"
#include "cli/commands/rule_engine.h"
#include "cli/commands/trusted_inputs.h"
#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/change/git.h"
#include "pipeline/gate/gate.h"
#include "pipeline/report/json_parts.h"
#include "pipeline/report/rule_page.h"
#include "redact/kinds/secret_source.h"
#include "redact/redactor.h"
#include "rules/rule_check.h"
#include "validator/validator.h"
#include "validator/views/source_view.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

int list(const Options& options, CommandContext& context, const RuleSet& rules) {
  if (options.format == OutputFormat::json) {
    Json document = {{"version", 1}, {"digest", rules.digest()}, {"rules", Json::array()}};
    for (const auto& rule : rules.rules())
      document["rules"].push_back({{"id", rule.id}, {"tier", to_string(rule.tier)}, {"title", rule.title}});
    return write_json(context, document);
  }
  for (const auto& rule : rules.rules())
    context.streams.out.print("{:<8} {:<38} {}\n", to_string(rule.tier), rule.id, rule.title);
  context.streams.out.print(
      "{} rules, digest {}; `guard rules show ID` explains one\n", rules.rules().size(), rules.digest().substr(0, 16));
  return 0;
}

Json texts_of(const std::vector<Example>& examples) {
  Json texts = Json::array();
  for (const auto& example : examples) texts.push_back(example.text);
  return texts;
}

// The shortest ones: a screen holds them, and they say the same as the long ones.
void show_examples(OutStream& out, std::string_view title, const std::vector<Example>& examples) {
  if (examples.empty()) return;
  constexpr std::size_t kShown = 5;
  constexpr std::size_t kLineMax = 120;
  std::vector<std::string_view> texts;
  for (const auto& example : examples) texts.push_back(example.text);
  std::stable_sort(texts.begin(), texts.end(), [](auto left, auto right) { return left.size() < right.size(); });
  out.print("\n{} ({} of {} examples):\n", title, std::min(kShown, texts.size()), texts.size());
  texts.resize(std::min(kShown, texts.size()));
  for (const auto text : texts)
    out.print("  {}{}\n", printable(text.substr(0, kLineMax)), text.size() > kLineMax ? "..." : "");
}

Result<int> show(const Options& options, CommandContext& context, const RuleSet& rules) {
  const Rule* rule = rules.find(options.arguments[0]);
  if (rule == nullptr) {
    std::vector<std::string_view> known;
    for (const auto& candidate : rules.rules()) known.push_back(candidate.id);
    const std::string_view near = nearest_word(options.arguments[0], known);
    return Error(ErrorCode::input_invalid, fmt::format("there is no rule called {}", printable(options.arguments[0])))
        .hint(near.empty() ? std::string("`guard rules list` names them all") : fmt::format("did you mean {}?", near));
  }
  if (options.format == OutputFormat::json) {
    Json document = {{"version", 1}, {"id", rule->id}, {"tier", to_string(rule->tier)}, {"title", rule->title},
        {"why", rule->why}, {"fix", rule->fix}, {"patterns", Json::array()}, {"needs", rule->needs},
        {"all_of", rule->all_of}, {"references", rule->references}, {"match", texts_of(rule->match)},
        {"no_match", texts_of(rule->no_match)}};
    for (const auto& pattern : rule->patterns) document["patterns"].push_back(pattern.regex);
    return write_json(context, document);
  }
  OutStream& out = context.streams.out;
  out.print("{}  ({})\n{}\n", rule->id, to_string(rule->tier), rule->title);
  if (!rule->why.empty()) out.print("\nwhy:     {}\n", rule->why);
  if (!rule->fix.empty()) out.print("instead: {}\n", rule->fix);
  for (const auto& fact : rule->needs) out.print("only if: {} (in the file or in one that it loads)\n", fact);
  for (const auto& fact : rule->all_of) out.print("all of:  {} (over the file and all that it loads)\n", fact);
  for (const auto& reference : rule->references) out.print("see:     {}\n", reference);
  show_examples(out, "found", rule->match);
  show_examples(out, "allowed", rule->no_match);
  const std::size_t patterns = rule->patterns.size();
  out.print("\n{} pattern{}; `guard rules show {} --format json` prints them and every example\n", patterns,
      patterns == 1 ? "" : "s", rule->id);
  return 0;
}

// Both engines judge every example; Hyperscan's databases and RE2's programs are made once.
Result<int> prove(const Options& options, CommandContext& context, const RuleEngine& engine) {
  GUARD_TRY_ASSIGN(const Matcher re2, Matcher::create(*engine.rules, Engine::re2_only));
  const ExampleJudge judge = [&](const std::string& id, const Example& example, Engine which) {
    return example_matches(*engine.rules, which == Engine::re2_only ? re2 : *engine.matcher, id, example);
  };
  GUARD_TRY_ASSIGN(const auto faults, check_rules(*engine.rules, judge));
  if (options.format == OutputFormat::json) {
    Json document = {{"version", 1}, {"digest", engine.rules->digest()}, {"rules", engine.rules->rules().size()},
        {"faults", Json::array()}};
    for (const auto& fault : faults)
      document["faults"].push_back({{"rule", fault.rule}, {"place", fault.place}, {"message", fault.message}});
    write_json(context, document);
  } else {
    for (const auto& fault : faults)
      context.streams.out.print("{}: {}: {}\n", fault.place, fault.rule, printable(fault.message));
    context.streams.out.print("{} rules, {} faults\n", engine.rules->rules().size(), faults.size());
  }
  // Faulty rules leave every verdict undecided; so does this.
  return faults.empty() ? 0 : info(ErrorCode::rules_invalid).exit_status;
}

// The marks between the parts of an entry of the strings view, in a form that can be read.
std::string readable(std::string_view view) {
  std::string text;
  for (const auto line : pieces_of(view)) text += line.empty() ? "" : "  " + printable(line) + "\n";
  for (const auto& [mark, word] :
      {std::pair("\\x1e", "<"), std::pair("\\x1d", "| "), std::pair("\\x1f", ">\n  "), std::pair("\\x1a", "<?>")})
    text = replaced(std::move(text), mark, word);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.pop_back();
  return text + "\n";
}

Result<int> show_views(const Options& options, CommandContext& context) {
  constexpr std::uint64_t kFileBytesMax = 2u << 20;
  GUARD_TRY_ASSIGN(const std::string bytes, read_file(options.arguments[0], kFileBytesMax));
  // What is shown may be pasted into a ticket.
  GUARD_TRY_ASSIGN(const SecretSource secrets, SecretSource::shipped());
  SourceViews views;
  views.build(bytes, options.arguments[0]);
  for (const View view : kAllViews) {
    if (view == View::raw || views.view(view).empty()) continue;
    GUARD_TRY_ASSIGN(const std::string masked, redact_text(secrets, views.view(view)));
    context.streams.out.print("{}:\n{}", to_string(view), readable(masked));
  }
  return 0;
}

// What these rules find below `paths`, with all tiers: by path and line.
using FoundLines = std::map<std::pair<std::string, std::uint32_t>, std::vector<Finding>>;

Result<FoundLines> found_by(const RuleEngine& engine, const std::vector<std::string>& paths, GateRequest request,
    const Config& config, CommandContext& context) {
  request.rules = engine.rules;
  request.matcher = &*engine.matcher;
  TreeGate tree;
  tree.paths = paths;
  tree.cancel = &context.cancel;
  tree.jobs = std::max(1u, std::thread::hardware_concurrency());
  tree.collect = collect_options(config);
  tree.collect.ignored = Git::ignored_names(context.cancel);
  CheckRecord record = gate_tree(request, tree, "host");
  if (record.error) return *record.error;
  FoundLines lines;
  for (Finding& finding : record.report.findings) {
    if (finding.severity != Severity::block) continue;
    auto& there = lines[{finding.path, finding.line}];
    there.push_back(std::move(finding));
  }
  return lines;
}

struct RuleCounts {
  std::size_t added = 0;
  std::size_t removed = 0;
  std::size_t changed = 0;
};

bool is_same(const Rule& a, const Rule& b) {
  return a.needs == b.needs && a.all_of == b.all_of && a.tier == b.tier &&
      std::equal(a.patterns.begin(), a.patterns.end(), b.patterns.begin(), b.patterns.end(),
          [](const auto& x, const auto& y) { return x.regex == y.regex; });
}

RuleCounts compare_rules(const RuleSet& before, const RuleSet& after) {
  RuleCounts counts;
  for (const Rule& rule : after.rules()) {
    const Rule* old = before.find(rule.id);
    if (old == nullptr) ++counts.added;
    if (old != nullptr && !is_same(*old, rule)) ++counts.changed;
  }
  for (const Rule& rule : before.rules()) counts.removed += after.find(rule.id) == nullptr ? 1u : 0u;
  return counts;
}

Result<int> show_difference(const Options& options, CommandContext& context) {
  const auto engine_of = [](const std::string& name) {
    return load_rules_alone(name == "built-in" ? std::string() : name);
  };
  GUARD_TRY_ASSIGN(const RuleEngine before, engine_of(options.arguments[0]));
  GUARD_TRY_ASSIGN(const RuleEngine after, engine_of(options.arguments[1]));
  CheckSession session;
  GUARD_TRY_ASSIGN(const fs::path here, project_folder({}));
  GUARD_TRY_ASSIGN(const GateRequest request, prepare_check(config_of({}, here, context), {}, context, session));
  std::vector<std::string> paths(options.arguments.begin() + 2, options.arguments.end());
  if (paths.empty()) paths = {"."};
  GUARD_TRY_ASSIGN(const FoundLines old_lines, found_by(before, paths, request, session.loaded.config, context));
  GUARD_TRY_ASSIGN(const FoundLines new_lines, found_by(after, paths, request, session.loaded.config, context));
  CheckRecord newly;
  std::size_t newly_refused = 0;  // lines
  for (const auto& [place, findings] : new_lines) {
    if (old_lines.count(place) != 0) continue;
    ++newly_refused;
    newly.report.findings.insert(newly.report.findings.end(), findings.begin(), findings.end());
  }
  const auto gone = static_cast<std::size_t>(std::count_if(
      old_lines.begin(), old_lines.end(), [&](const auto& line) { return new_lines.count(line.first) == 0; }));
  GUARD_TRY_ASSIGN(newly, masked_check(std::move(newly), session));
  const RuleCounts rules = compare_rules(*before.rules, *after.rules);
  if (options.format == OutputFormat::json) {
    Json document = {{"version", 1},
        {"rules", {{"added", rules.added}, {"removed", rules.removed}, {"changed", rules.changed}}},
        {"newly_refused", Json::array()}, {"no_longer_refused", gone}};
    for (const Finding& finding : newly.report.findings) {
      document["newly_refused"].push_back({{"rule", finding.rule}, {"tier", to_string(finding.tier)},
          {"path", clean(finding.path)}, {"line", finding.line}, {"excerpt", clean(finding.excerpt)}});
    }
    write_json(context, document);
  } else {
    OutStream& out = context.streams.out;
    for (const Finding& finding : newly.report.findings) {
      out.print("{}:{}: [{}] {}\n    {}\n", printable(finding.path), finding.line, to_string(finding.tier),
          finding.rule, printable(finding.excerpt));
    }
    out.print("rules:   {} added, {} removed, {} changed\nlines:   {} newly refused, {} no longer refused\n",
        rules.added, rules.removed, rules.changed, newly_refused, gone);
  }
  return newly_refused == 0 ? 0 : 1;
}

}  // namespace

Result<int> cmd_rules(const Options& options, CommandContext& context) {
  if (options.action == Action::views) return show_views(options, context);
  if (options.action == Action::diff) return show_difference(options, context);
  const bool named = options.action == Action::check && !options.arguments.empty();
  GUARD_TRY_ASSIGN(const RuleEngine engine, load_rules_alone(named ? options.arguments[0] : std::string()));
  if (options.action == Action::list) return list(options, context, *engine.rules);
  if (options.action == Action::show) return show(options, context, engine.rules->with_examples());
  if (options.action == Action::check) return prove(options, context, engine);
  context.streams.out.write(rules_page(*engine.rules));
  return 0;
}

}  // namespace guard
