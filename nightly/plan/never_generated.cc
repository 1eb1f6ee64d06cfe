// Which tasks are refused before their generator runs, told from their words.
//
// A plan is its owner's, who has no reason to hide a task from this: the table
// is for honest prompts, and rather misses one than refuses a test of a login
// form. What is written in spite of it goes through the gate like everything
// else.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

#include "common/text/characters.h"
#include "common/text/text.h"
#include "nightly/plan/plan.h"
#include "rules/rule_set.h"
#include "validator/validator.h"

namespace guard::nightly {
namespace {

constexpr std::string_view kByHand = "tests of ALWAYS_BLOCK are written by hand, never generated";
constexpr std::string_view kPatterns =
    "regression tests of security patterns "
    "are written by hand, never generated";
constexpr std::string_view kBanned = "tests that hold banned strings are written by hand, never generated";

// What a row looks for: whole words, whatever their case. `~` is what joins
// words to a phrase: blanks, hyphens, underscores and marks of emphasis, or
// nothing. `also` has to be there, too, somewhere.
struct Topic {
  const char* words;
  const char* also;
  std::string_view sentence;
};

constexpr Topic kTopics[] = {
    // As guard spells it. In two plain words it is English ("must always block
    // the button"), unless it goes on as guard
    // would.
    {"always[-_]?block", "", kByHand},
    {"always~block~(tests?|rules?|tier|patterns?|list)", "", kByHand},
    // "escape the sandbox" alone may ask for a backslash.
    {"(sandbox|container)~escapes?", "", kByHand},
    {"(escap(e|es|ing)~from|break(s|ing)?~out~of)~the~(sandbox|container)", "", kByHand},
    // Neither word alone: there are regressions of everything, and pages about
    // security patterns. "Security rules" are
    // Firestore's.
    {"regressions?", "(security|blocked|block)~patterns?", kPatterns},
    // An application has banned strings of its own.
    {"banned~(strings?|patterns?)", "guards?|secrets?|regressions?|commit(s|ted)?", kBanned},
};

std::unique_ptr<const RE2> compiled(std::string_view words) {
  constexpr std::string_view kNoWord = "[^a-z0-9\\x80-\\xff]";
  const std::string pattern = replaced(fmt::format("(^|{0})({1})({0}|$)", kNoWord, words), "~", "[ \\t\\r\\n_*`'\"-]*");
  RE2::Options options(RE2::Latin1);
  options.set_case_sensitive(false);
  return std::make_unique<const RE2>(pattern, options);
}

std::string_view sentence_of_topic(std::string_view text) {
  using Pair = std::array<std::unique_ptr<const RE2>, 2>;
  static const std::array<Pair, std::size(kTopics)> kCompiled = [] {
    std::array<Pair, std::size(kTopics)> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = {compiled(kTopics[i].words), compiled(kTopics[i].also)};
    return all;
  }();  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): kept to the end
  const re2::StringPiece words(text.data(), text.size());
  for (std::size_t i = 0; i < kCompiled.size(); ++i) {
    const auto& [first, also] = kCompiled[i];
    if (RE2::PartialMatch(words, *first) && (*kTopics[i].also == 0 || RE2::PartialMatch(words, *also)))
      return kTopics[i].sentence;
  }
  return {};
}

// "always.env_dump" as such, and not inside of a longer name.
bool names_rule(std::string_view low, std::string_view id) {
  constexpr std::string_view kName = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (std::size_t at = low.find(id); at != std::string_view::npos; at = low.find(id, at + 1)) {
    const bool begins = at == 0 || (kName.find(low[at - 1]) == std::string_view::npos && low[at - 1] != '.');
    const std::size_t behind = at + id.size();
    if (begins && (behind == low.size() || kName.find(low[behind]) == std::string_view::npos)) return true;
  }
  return false;
}

std::string sentence_for(std::string_view text) {
  if (const auto sentence = sentence_of_topic(text); !sentence.empty()) return std::string(sentence);
  const std::string low = lower_case(text);
  for (const Rule& rule : RuleSet::shipped_gate().rules()) {
    const bool fixed = rule.tier == Tier::always || rule.tier == Tier::banned;
    if (fixed && names_rule(low, rule.id))
      return fmt::format("it names {}: {}", rule.id, rule.tier == Tier::always ? kByHand : kBanned);
  }
  return {};
}

}  // namespace

std::string never_generated(const PlannedTask& task) {
  if (std::string sentence = sentence_for(task.prompt); !sentence.empty()) return sentence;
  for (const auto& path : task.tests) {
    if (std::string sentence = sentence_for(path); !sentence.empty()) return sentence;
  }
  return {};
}

Result<std::string> never_generated(const PlannedTask& task, const Validator& validator) {
  if (std::string sentence = never_generated(task); !sentence.empty()) return sentence;
  std::vector<SourceFile> texts = {{"the prompt", task.prompt}};
  for (const auto& path : task.tests) texts.push_back({"a path in `tests`", path});
  GUARD_TRY_ASSIGN(const Report report,
      validator.check_banned(texts).context(fmt::format("looking at the prompt of task {}", task.id)));
  if (report.findings.empty()) return std::string();
  const Finding& finding = report.findings.front();
  return fmt::format(
      "{} holds what must not be committed ({}, line {}), and a "
      "test would repeat it: {}",
      finding.path, finding.rule, finding.line, kBanned);
}

}  // namespace guard::nightly
