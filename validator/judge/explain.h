// Why a rule fired at a line, or came close to it: for people who debug a false alarm, or ask why something was not
// found. It looks at every view and is meant for one file at a time, not for a gate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "validator/validator.h"

namespace guard {

// One reading of the line, or of a part of it. `text` is not masked.
struct ViewPiece {
  View view = View::raw;
  std::string text;
  std::string callee;  // strings only: what the text is handed to; may be empty
  std::uint32_t line = 0;
  std::size_t begin = 0;  // where it comes from in the file
  std::size_t end = 0;
};

enum class Story : std::uint8_t {
  fired,         // there is a finding at the line
  waived,        // there was one; set by whoever knows the waivers
  merged,        // part of a finding that is reported at another place, or beyond the number that is reported
  tier_off,      // matched, but the tier does not apply
  out_of_scope,  // matched, but the rule looks at other paths
  needs_fact,    // matched, but a precondition holds in none of the files
  half,          // one half of a rule that wants several facts
  harmless,      // reads only variables of the harmless list
  other_view,    // would match a reading of the line that the rule does not look at: a comment, the text of a string
};
std::string_view to_string(Story story) noexcept;

struct RuleStory {
  std::string rule;
  Story story = Story::fired;
  std::string sentence;              // why; not masked
  std::string reading;               // fired: what it was read as, where the source spells it otherwise; not masked
  std::vector<std::uint32_t> lines;  // fired: where in this file
};

struct Explanation {
  std::string path;
  std::uint32_t line = 0;         // 0: the file as a whole
  std::vector<ViewPiece> pieces;  // in the order of View
  std::vector<RuleStory> rules;   // those that fired or came close, by story, then as in the rule set
  std::size_t files = 0;          // of the call
  Report report;                  // the findings of this file, as Validator gives them
};

// `file` is an index into `files`; `line` counts from 1, 0 stands for all lines. INPUT_INVALID where the file has
// fewer.
Result<Explanation> explain(const RuleSet& rules, const Matcher& matcher, const ValidatorOptions& options,
    const std::vector<SourceFile>& files, std::size_t file, std::uint32_t line);

}  // namespace guard
