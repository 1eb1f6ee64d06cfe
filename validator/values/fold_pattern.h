// Regular expressions with constant texts: what replace, split, match and exec give.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "validator/values/constant_folder.h"

namespace guard {

// A match: the whole, and its groups. Empty groups did not take part or matched nothing.
using PatternMatch = std::vector<std::string_view>;

// All matches of a pattern in a text, in order.
struct PatternMatches {
  bool known = false;  // false: the pattern can't be evaluated, or a limit was reached
  bool all = false;    // the pattern has the flag g
  std::vector<PatternMatch> matches;
};

// `literal` is /source/flags. With look-around or back references nothing is known. The work is bounded, whatever the
// pattern: so many steps at most, and then nothing is known.
PatternMatches find_pattern(std::string_view literal, std::string_view text, bool all);

// `receiver.method(pattern, ..)` for a text and replace, replaceAll, split, match, matchAll; and pattern.exec(text) as
// match. Unknown for other methods. `by_function` gives the replacement of a match where there is a function for it.
using Replacer = std::function<Value(const PatternMatch&)>;
Value fold_pattern_method(const Value& receiver, std::string_view method, std::span<const Value> args,
    const Replacer& by_function, ValueLists& lists, Arena& arena);

}  // namespace guard
