#include "pipeline/rule_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text.h"
#include "redact/masked_regions.h"

namespace guard {
namespace {

constexpr std::string_view kPage = "docs/rules.md";

struct TierText {
  Tier tier;
  std::string_view name;
  std::string_view title;
  std::string_view about;
  std::string_view waiving;
};

constexpr std::array kTiers = {
    TierText{Tier::always, "always", "Always blocked", "These apply everywhere, in a container too: each is a way out of the sandbox, or to what it must not hold.",
             "Cannot be waived: nothing that a test needs looks like this."},
    TierText{Tier::docker, "docker", "Blocked in a container and outside",
             "These apply everywhere, too: a container does not keep a secret from the code that runs in it.",
             "Can be waived in the trusted `guard.toml`: `guard check --print-waiver PATH` prints the table to paste."},
    TierText{Tier::host, "host", "Blocked outside a container",
             "These apply where no container is the boundary (`--mode host`, and `namespace` unless it is trusted). In a container they are skipped.",
             "Runs as it is in a container. Elsewhere it can be waived in the trusted `guard.toml`: `guard check --print-waiver PATH` prints the table to paste."},
    TierText{Tier::banned, "banned", "Banned from the repository",
             "Literal shapes of secrets, real or made up, looked for in the raw text of every added line.",
             "Cannot be waived. Test data that has to look like this is put together from pieces."},
};

constexpr std::string_view kOtherFindings = R"(
## Findings that no rule makes

<a id="encoding"></a>
### encoding

Bytes that people, tools and engines read differently: UTF-16, bytes that are not UTF-8, NUL bytes, bidirectional controls, a byte
order mark inside the code, names that hide plain letters behind `\u` escapes, files larger than `[check] max_file_bytes`, and text that
can be read in more ways than guard can follow. Save the file as plain UTF-8; split what is too large.

Cannot be waived: what cannot be read was not judged.

<a id="side_file"></a>
### side_file

Files whose mere presence beside the tests changes what runs: `bunfig.toml`, `package.json`, `tsconfig.json`, `.env*`, `node_modules`,
native code, links and devices. Take them out of the sandbox folder.

Can be waived in the trusted `guard.toml`, except where the file could not be read.

<a id="policy"></a>
### policy

A change that touches what it is judged by, what git, CI, agents or tools obey, or that is too large, binary or no plain file: links,
submodules, modes. A person makes such a change in a commit of their own. [gate.md](gate.md) has all of them.

Cannot be waived: the waiver would stand in the very file that is being changed.
)";

bool is_rule_tier(FindingTier tier) {
  return tier == FindingTier::always || tier == FindingTier::docker || tier == FindingTier::host || tier == FindingTier::banned;
}

// A fence that is longer than any run of back quotes in the text.
std::string fenced(std::string_view text) {
  std::size_t longest = 2;
  for (std::size_t at = 0, run = 0; at < text.size(); ++at) {
    run = text[at] == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}ts\n{}\n{}\n", fence, text, fence);
}

// Printable line by line; blanks at line ends would make every editor change the page.
std::string lines_of(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = printable(text.substr(at, end - at));
    line.erase(line.find_last_not_of(" \t") + 1);
    shown += (at == 0 ? "" : "\n") + line;
    at = end + 1;
  }
  return shown;
}

class Page {
 public:
  explicit Page(const SecretSource& secrets) : secrets_(secrets) {}

  Result<void> examples(std::string_view title, const std::vector<Example>& list, Tier tier) {
    if (list.empty()) return ok();
    text_ += fmt::format("{}\n\n", title);
    std::string shown;
    std::size_t hidden = 0;
    for (const auto& example : list) {
      constexpr std::size_t kExampleBytesMax = 1000;
      GUARD_TRY_ASSIGN(const auto regions, masked_regions(secrets_, example.text));
      // A page that shows them would itself be banned, and a search for keys would find it.
      if (tier == Tier::banned || !regions.empty() || example.text.size() > kExampleBytesMax) {
        ++hidden;
        continue;
      }
      const bool named = example.path != Example{}.path;
      shown += fmt::format("{}{}{}", shown.empty() ? "" : "\n", named ? fmt::format("// {}\n", example.path) : std::string(), lines_of(example.text));
    }
    if (!shown.empty()) text_ += fenced(shown) + "\n";
    if (hidden > 0) text_ += fmt::format("({} example{} not written out: {} the shape of a secret, or {} too long.)\n\n", hidden, hidden == 1 ? "" : "s",
                                         hidden == 1 ? "it has" : "they have", hidden == 1 ? "is" : "are");
    return ok();
  }

  Result<void> rule(const Rule& rule, const TierText& tier) {
    text_ += fmt::format("<a id=\"{}\"></a>\n### {}\n\n{}.\n\n", rule.id, rule.id, rule.title);
    text_ += fmt::format("- **Tier**: {}\n- **Why**: {}\n- **Instead**: {}\n", tier.name, rule.why, rule.fix);
    for (const auto& fact : rule.needs) text_ += fmt::format("- **Only if** `{}` holds in the file or in one that it loads\n", fact);
    for (const auto& fact : rule.all_of) text_ += fmt::format("- **All of** `{}`, over the file and all that it loads\n", fact);
    for (const auto& glob : rule.paths) text_ += fmt::format("- **Only in** `{}`\n", glob);
    for (const auto& reference : rule.references) text_ += fmt::format("- **See** {}\n", reference);
    text_ += fmt::format("- **Waiver**: {}\n\n", tier.waiving);
    if (tier.tier == Tier::banned && !rule.match.empty()) {
      text_ += "What it catches is not written out here: this page would be caught itself.\n\n";
    } else {
      GUARD_TRY(examples("Caught:", rule.match, tier.tier));
    }
    return tier.tier == Tier::banned ? ok() : examples("Left alone:", rule.no_match, tier.tier);
  }

  Result<std::string> write(const RuleSet& rules) {
    text_ =
        "# Rules\n\n"
        "Written by `guard rules doc`; change the rules, not this page.\n\n"
        "`guard rules show ID` says the same about one rule, `guard check --explain PATH:LINE` why a rule did or did not fire at a line.\n";
    for (const auto& tier : kTiers) {
      text_ += fmt::format("\n## {}\n\n{}\n\n", tier.title, tier.about);
      for (const auto& rule : rules.rules()) {
        if (rule.tier == tier.tier) text_ += fmt::format("- [{}](#{}): {}\n", rule.id, rule.id, rule.title);
      }
      text_ += '\n';
      for (const auto& entry : rules.rules()) {
        if (entry.tier == tier.tier) GUARD_TRY(rule(entry, tier));
      }
      while (text_.ends_with("\n\n")) text_.pop_back();
    }
    text_ += kOtherFindings;
    text_ += "\n## Facts\n\nObservations that rules build on. They are never findings.\n\n";
    for (const auto& fact : rules.facts()) text_ += fmt::format("- `{}`: {}\n", fact.id, fact.title);
    return std::move(text_);
  }

 private:
  const SecretSource& secrets_;
  std::string text_;
};

}  // namespace

std::string rule_anchor(std::string_view rule, FindingTier tier) { return std::string(is_rule_tier(tier) ? rule : to_string(tier)); }

std::string rule_page(std::string_view rule, FindingTier tier) { return fmt::format("{}#{}", kPage, rule_anchor(rule, tier)); }

Result<std::string> rules_page(const RuleSet& rules, const SecretSource& secrets) { return Page(secrets).write(rules); }

}  // namespace guard
