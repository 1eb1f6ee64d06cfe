// What a rule is: plain values, read from TOML (schema.md) or from the tables that the build generates out of it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace guard {

// Which family of acts a rule stops; it decides when the rule applies, never how bad a finding is: every tier blocks.
enum class Tier : std::uint8_t {
  always,  // ALWAYS_BLOCK
  docker,  // DOCKER_BLOCK: in a container, and without one too
  host,    // HOST_ONLY_BLOCK: where no container is the boundary
  banned,  // literal shapes of secrets in what would be committed; raw text only, never waived
  secret,  // kinds that the redactor hides; never a finding of the validator by itself
};

// What is matched. Each view is a total function of a file's bytes with an offset map (validator/views/source_view.h).
enum class View : std::uint8_t { raw, code, strings, commands, uses };
inline constexpr std::size_t kViewCount = 5;
inline constexpr View kAllViews[kViewCount] = {View::raw, View::code, View::strings, View::commands, View::uses};

enum class Severity : std::uint8_t { block, note };

// What is read of a rule when it hits, if then. A start copies no such text out of the program.
class RuleText : public std::string_view {
 public:
  RuleText() = default;
  RuleText(std::string text) : RuleText(std::make_shared<const std::string>(std::move(text))) {}
  RuleText(const char* text) : RuleText(std::string(text)) {}
  static RuleText of_program(std::string_view text) {
    RuleText out;
    static_cast<std::string_view&>(out) = text;
    return out;
  }

 private:
  explicit RuleText(std::shared_ptr<const std::string> text) : std::string_view(*text), kept_(std::move(text)) {}
  std::shared_ptr<const std::string> kept_;
};

struct Example {
  std::string text;
  std::string path = "sandbox/example.test.ts";  // for rules with a path scope
};

// One way to hit. In a RuleSet the regex is in the dialect that both engines read alike (regex_dialect.h); it may be
// handed to RE2 (Latin-1) and to Hyperscan as it is.
struct Pattern {
  static constexpr std::uint32_t kUnbounded = std::numeric_limits<std::uint32_t>::max();

  RuleText regex;
  std::vector<View> views;      // in the order of the enumeration, each once
  std::uint16_t capture = 0;    // the group that is the finding's span (0: the whole match)
  std::uint32_t bytes_max = 0;  // longest possible match; kUnbounded; 0: not checked yet
  std::uint32_t line = 0;       // of the regex in the rule\'s file, for messages; not kept in RuleSet::shipped()
  std::uint32_t column = 0;
};

// All rules in one set: `hit` fires by itself; `all_of` fires when every listed fact was seen somewhere in the files
// that load each other (the 2-hit rule). Facts are patterns that mean nothing by themselves ("reads one variable",
// "can start a process"); a rule with `needs` fires only if all its facts hold over the whole set.
struct Rule {
  std::string id;  // "always.env_dump"; stable, lower case, family.name
  Tier tier = Tier::always;
  Severity severity = Severity::block;
  RuleText title;  // what was found, one line
  RuleText why;    // why it matters
  RuleText fix;    // what to write instead; the reader may be a model
  std::vector<Pattern> patterns;
  std::vector<std::string> needs;             // fact ids
  std::vector<std::string> all_of;            // fact ids; then `patterns` is empty
  std::vector<std::string> paths;             // globs; empty: every file
  std::string kind;                           // Tier::secret: the name in the marker, [REDACTED:kind]
  std::map<std::string, std::string> redact;  // Tier::secret: hints to the redactor; integers and booleans as text
  std::vector<std::string> references;
  std::vector<Example> match;     // empty in RuleSet::shipped(), see shipped_with_examples()
  std::vector<Example> no_match;  // the same
  RuleText file;                  // where it stands, for messages
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// A named observation, not a finding.
struct Fact {
  std::string id;  // "fact.can_spawn"
  RuleText title;
  std::vector<Pattern> patterns;
  std::vector<Example> match;
  std::vector<Example> no_match;
  RuleText file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

}  // namespace guard
