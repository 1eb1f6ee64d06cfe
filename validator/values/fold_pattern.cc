#include "validator/values/fold_pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <utility>

namespace guard {
namespace {

constexpr std::size_t kPatternMax = 128;  // bytes of a pattern
constexpr std::size_t kPatternWorkMax =
    1024 * 1024;                                    // steps of one call: bytes looked at times the size of the program
constexpr std::int64_t kPatternMemory = 16 * 1024;  // for RE2
constexpr int kGroupsMax = 9;

// $&, $$, $1 .. $9
std::string expanded(std::string_view to, const PatternMatch& match) {
  std::string out;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const char next = to[i] == '$' && i + 1 < to.size() ? to[i + 1] : '\0';
    if (next == '$' || next == '&') {
      out.append(next == '$' ? std::string_view("$") : match.front());
      ++i;
    } else if (next >= '1' && next <= '9' && static_cast<std::size_t>(next - '0') < match.size()) {
      out.append(match[static_cast<std::size_t>(next - '0')]);
      ++i;
    } else {
      out.push_back(to[i]);
    }
  }
  return out;
}

Value replace_matches(
    std::string_view text, const PatternMatches& found, const Value& to, const Replacer& by_function, Arena& arena) {
  std::string out;
  std::size_t at = 0;
  for (const PatternMatch& match : found.matches) {
    const auto begin = static_cast<std::size_t>(match.front().data() - text.data());
    out.append(text.substr(at, begin - at));
    if (to.kind == Value::Kind::function) {
      const Value given = by_function(match);
      out.append(given.is_text() ? given.text : std::string_view(&kWildcard, 1));
    } else {
      out.append(expanded(to.text, match));
    }
    at = begin + match.front().size();
    if (out.size() > kTextMax) return {};
  }
  return text_value(out.append(text.substr(at)), arena);
}

Value split_at(std::string_view text, const PatternMatches& found, ValueLists& lists, Arena& arena) {
  std::vector<Value> items;
  std::size_t at = 0;
  for (const PatternMatch& match : found.matches) {
    const auto begin = static_cast<std::size_t>(match.front().data() - text.data());
    if (match.front().empty() && (begin == at || begin == text.size())) continue;
    items.push_back(text_value(text.substr(at, begin - at), arena));
    for (std::size_t i = 1; i < match.size(); ++i) items.push_back(text_value(match[i], arena));
    at = begin + match.front().size();
  }
  items.push_back(text_value(text.substr(at), arena));
  return make_list(std::move(items), lists);
}

Value groups_of(const PatternMatch& match, ValueLists& lists, Arena& arena) {
  std::vector<Value> items;
  for (const std::string_view part : match) items.push_back(text_value(part, arena));
  return make_list(std::move(items), lists);
}

}  // namespace

PatternMatches find_pattern(std::string_view literal, std::string_view text, bool all) {
  PatternMatches found;
  const std::size_t close = literal.rfind('/');
  if (literal.size() < 3 || close == 0 || close > kPatternMax || text.size() > kTextMax) return found;
  // Counted repeats of each other make large programs of short patterns.
  if (std::count(literal.begin(), literal.end(), '{') > 1) return found;
  const std::string_view flags = literal.substr(close + 1);
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kPatternMemory);
  options.set_case_sensitive(flags.find('i') == std::string_view::npos);
  options.set_dot_nl(flags.find('s') != std::string_view::npos);
  std::string source(literal.substr(1, close - 1));
  if (flags.find('m') != std::string_view::npos) source = "(?m:" + source + ")";
  for (std::size_t at = source.find("(?<"); at != std::string::npos; at = source.find("(?<", at + 4)) {
    source.insert(at + 2, "P");  // a named group; look-behind is an error in either spelling
  }
  const RE2 pattern(source, options);
  if (!pattern.ok()) return found;
  found.all = flags.find('g') != std::string_view::npos;
  const int groups = std::min(pattern.NumberOfCapturingGroups(), kGroupsMax) + 1;
  std::vector<re2::StringPiece> parts(static_cast<std::size_t>(groups));
  std::size_t at = 0;
  std::size_t work = 0;
  while (at <= text.size()) {
    work += (text.size() - at + 1) * static_cast<std::size_t>(pattern.ProgramSize());
    if (work > kPatternWorkMax) return found;
    if (!pattern.Match({text.data(), text.size()}, at, text.size(), RE2::UNANCHORED, parts.data(), groups)) break;
    PatternMatch match;
    for (const re2::StringPiece& part : parts) {
      match.push_back(part.data() == nullptr ? std::string_view() : std::string_view(part.data(), part.size()));
    }
    at = static_cast<std::size_t>(parts[0].data() - text.data()) + std::max<std::size_t>(parts[0].size(), 1);
    found.matches.push_back(std::move(match));
    if (!all && !found.all) break;
  }
  found.known = true;
  return found;
}

Value fold_pattern_method(const Value& receiver, std::string_view method, std::span<const Value> args,
    const Replacer& by_function, ValueLists& lists, Arena& arena) {
  if (args.empty()) return {};
  const std::string_view text = receiver.text;
  const bool replaces = method == "replace" || method == "replaceAll";
  const bool by_value = args.size() > 1 && (args[1].is_text() || args[1].kind == Value::Kind::function);
  if (replaces && !by_value) return {};
  PatternMatches found;
  if (args[0].kind == Value::Kind::pattern) {
    found = find_pattern(args[0].text, text, method == "split" || method == "matchAll");
  } else if (replaces && args[0].is_text() && !args[0].text.empty()) {  // a text, and a function for what replaces it
    for (std::size_t at = text.find(args[0].text); at != std::string_view::npos;
         at = text.find(args[0].text, at + args[0].text.size())) {
      found.matches.push_back({text.substr(at, args[0].text.size())});
      if (method == "replace") break;
    }
    found.known = true;
  }
  if (!found.known) return {};
  if (replaces) return replace_matches(text, found, args[1], by_function, arena);
  if (method == "split") return split_at(text, found, lists, arena);
  if (method == "match" && !found.all)
    return found.matches.empty() ? Value{} : groups_of(found.matches[0], lists, arena);
  if (method != "match" && method != "matchAll") return {};
  std::vector<Value> items;
  for (const PatternMatch& match : found.matches) {
    if (items.size() > kListMax) break;
    items.push_back(method == "match" ? text_value(match.front(), arena) : groups_of(match, lists, arena));
  }
  return make_list(std::move(items), lists);
}

}  // namespace guard
