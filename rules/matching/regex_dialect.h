// The regular expressions that rules may use: what RE2 and Hyperscan read alike, over bytes.
//
// A rule's author writes RE2 syntax without Unicode. What the two engines read differently is either rewritten into a
// form without doubt (`\s`, `$`, `\v`, a literal brace) or refused with the sentence that says what to write instead
// (octal, POSIX classes, back references, look-around, bytes over 0x7f under (?i)). The dialect is written down in
// schema.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/result.h"
#include "rules/rule.h"

namespace guard {

// What is wrong with a regex, and where in it.
struct RegexFault {
  std::size_t offset = 0;
  std::string sentence;
};

// `regex` as both engines read it. Rewriting its own output changes nothing. On failure `regex` is left alone.
bool rewrite_regex(std::string& regex, RegexFault& fault);

// Rewrites the regex of `pattern`, has it read by both engines, checks `capture`, and fills bytes_max. False: see
// `fault`.
bool check_pattern(Pattern& pattern, RegexFault& fault);

}  // namespace guard
