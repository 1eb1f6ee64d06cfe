// Which tasks are refused before their generator runs, told from their words.
//
// A plan is its owner's, who has no reason to hide a task from this: the table is for honest prompts, and rather misses
// one than refuses a test of a login form. What is written in spite of it goes through the gate like everything else.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "nightly/plan/plan.h"
#include "rules/rule_set.h"
#include "validator/validator.h"

namespace guard::nightly {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (static_cast<unsigned char>(c) >= 0x80);
}

std::string lowered(std::string_view text) {
  std::string low(text);
  for (char& c : low) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return low;
}

// Words, with what stands between one and the next. Blanks, hyphens, underscores and marks of emphasis join words to a
// phrase; anything else ends it.
struct Word {
  std::string_view text;
  bool begins_phrase = true;  // nothing joins it to the word before
  bool tight = false;         // joined to the word before by one hyphen or underscore
};

std::vector<Word> words_of(std::string_view low) {
  constexpr std::string_view kJoins = " \t\r\n-_*`'\"";
  std::vector<Word> words;
  for (std::size_t at = 0; at < low.size();) {
    const std::size_t gap = at;
    bool joins = true;
    for (; at < low.size() && !is_word(low[at]); ++at) joins = joins && kJoins.find(low[at]) != std::string_view::npos;
    const std::size_t begin = at;
    while (at < low.size() && is_word(low[at])) ++at;
    if (begin == at) break;
    const bool tight = begin - gap == 1 && (low[gap] == '-' || low[gap] == '_');
    words.push_back({low.substr(begin, at - begin), words.empty() || !joins, tight && !words.empty()});
  }
  return words;
}

enum class Joined : std::uint8_t {
  loosely,  // "security pattern", "security-pattern", "securitypattern"
  tightly,  // the same but for blanks
};

// `phrase`: its words in one, "securitypattern".
bool begins_with(std::span<const Word> words, std::string_view phrase, Joined joined) {
  std::size_t matched = 0;
  for (std::size_t i = 0; i < words.size() && matched < phrase.size(); ++i) {
    if (i > 0 && (words[i].begins_phrase || (joined == Joined::tightly && !words[i].tight))) return false;
    if (!phrase.substr(matched).starts_with(words[i].text)) return false;
    matched += words[i].text.size();
  }
  return matched == phrase.size();
}

bool holds(std::span<const Word> words, std::string_view phrase, Joined joined) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (begins_with(words.subspan(i), phrase, joined)) return true;
  }
  return false;
}

// What a row looks for: one phrase of each group (an empty group: none is needed). Groups are comma-separated, in the
// spelling that begins_with() takes.
struct Topic {
  Joined joined;
  std::string_view first;
  std::string_view second;
  std::string_view sentence;
};

constexpr std::string_view kByHand = "tests of ALWAYS_BLOCK are written by hand, never generated";
constexpr std::string_view kPatterns = "regression tests of security patterns are written by hand, never generated";
constexpr std::string_view kBanned = "tests that hold banned strings are written by hand, never generated";

constexpr Topic kTopics[] = {
    // As guard spells it. In two plain words it is English ("must always block the button"), unless it goes on as guard
    // would.
    {Joined::tightly, "alwaysblock", "", kByHand},
    {Joined::loosely,
        "alwaysblocktest,alwaysblocktests,alwaysblockrule,alwaysblockrules,alwaysblocktier,alwaysblockpattern,"
        "alwaysblockpatterns,alwaysblocklist",
        "", kByHand},
    // "escape the sandbox" alone may ask for a backslash.
    {Joined::loosely,
        "sandboxescape,sandboxescapes,containerescape,containerescapes,escapefromthesandbox,escapesfromthesandbox,"
        "escapingfromthesandbox,"
        "breakoutofthesandbox,breaksoutofthesandbox,breakingoutofthesandbox,breakoutofthecontainer,"
        "breaksoutofthecontainer,"
        "breakingoutofthecontainer,escapefromthecontainer,escapesfromthecontainer,escapingfromthecontainer",
        "", kByHand},
    // Neither word alone: there are regressions of everything, and pages about security patterns. "Security rules" are
    // Firestore's.
    {Joined::loosely, "regression,regressions",
        "securitypattern,securitypatterns,blockedpattern,blockedpatterns,blockpattern,blockpatterns", kPatterns},
    // An application has banned strings of its own.
    {Joined::loosely, "bannedstring,bannedstrings,bannedpattern,bannedpatterns",
        "guard,guards,secret,secrets,regression,regressions,commit,commits,committed", kBanned},
};

bool holds_one_of(std::span<const Word> words, std::string_view group, Joined joined) {
  if (group.empty()) return true;
  while (!group.empty()) {
    const std::size_t end = std::min(group.find(','), group.size());
    if (holds(words, group.substr(0, end), joined)) return true;
    group.remove_prefix(std::min(end + 1, group.size()));
  }
  return false;
}

// "always.env_dump" as such, and not inside of a longer name.
bool names_rule(std::string_view low, std::string_view id) {
  const auto continues = [](char c) { return is_word(c) || c == '_' || c == '.'; };
  for (std::size_t at = low.find(id); at != std::string_view::npos; at = low.find(id, at + 1)) {
    const bool begins = at == 0 || !continues(low[at - 1]);
    const std::size_t behind = at + id.size();
    const bool ends = behind == low.size() || !(is_word(low[behind]) || low[behind] == '_');
    if (begins && ends) return true;
  }
  return false;
}

std::string sentence_for(std::string_view text) {
  const std::string low = lowered(text);
  const auto words = words_of(low);
  for (const Topic& topic : kTopics) {
    if (holds_one_of(words, topic.first, topic.joined) && holds_one_of(words, topic.second, topic.joined))
      return std::string(topic.sentence);
  }
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
  return fmt::format("{} holds what must not be committed ({}, line {}), and a test would repeat it: {}", finding.path,
      finding.rule, finding.line, kBanned);
}

}  // namespace guard::nightly
