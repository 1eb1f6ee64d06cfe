// How it works. Names that are declared outside of every brace and parenthesis are collected as they come, and so is
// every place where a name is given a value, or a member of it, or an entry. The two are compared at the end, as
// functions stand in front of what they use.
#include "validator/judge/kept_values.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "validator/values/known_names.h"

namespace guard {
namespace {

bool assigns(std::string_view rest) noexcept {
  if (rest.starts_with("||=") || rest.starts_with("\?\?=") || rest.starts_with("&&=") || rest.starts_with("+="))
    return true;
  return rest.size() > 1 && rest[0] == '=' && rest[1] != '=' && rest[1] != '>';
}

bool takes_entry(std::string_view member) noexcept {
  static constexpr std::array<std::string_view, 9> kNames = {
      "set", "push", "add", "unshift", "splice", "append", "fill", "enqueue", "concat"};
  return std::find(kNames.begin(), kNames.end(), member) != kNames.end();
}

// Does a variable of the environment stand in the rest of the statement?
bool hands_variable(std::string_view rest) noexcept {
  constexpr std::size_t kStatementMax = 400;
  const std::string_view statement = rest.substr(0, std::min(rest.find_first_of(";\n"), kStatementMax));
  return statement.find("process.env.") != std::string_view::npos ||
      statement.find("process.env[") != std::string_view::npos ||
      statement.find("Bun.env.") != std::string_view::npos ||
      statement.find("import.meta.env.") != std::string_view::npos;
}

std::string_view word_at(std::string_view code, std::size_t at) noexcept {
  std::size_t end = at;
  while (end < code.size() && is_word_byte(code[end])) ++end;
  return code.substr(at, end - at);
}

// The names in ` a,{b,c as d}from"e"`; the words of `{b as c}` are taken, too.
void take_imported(std::string_view rest, std::unordered_set<std::string_view>& names) {
  for (std::size_t at = 0;
       at < rest.size() && rest[at] != '"' && rest[at] != '(' && rest[at] != ';' && rest[at] != '.';) {
    const std::string_view word = word_at(rest, at);
    if (!word.empty()) names.insert(word);
    at += std::max<std::size_t>(word.size(), 1);
  }
}

}  // namespace

Keeping keeps_values(std::string_view code) {
  std::unordered_set<std::string_view> own;
  std::unordered_set<std::string_view> imported;
  std::unordered_map<std::string_view, bool> given;
  std::unordered_set<std::string_view> variables;  // of the names in `given`: those that are handed a variable
  bool instance = false;
  bool exports = false;
  bool given_to_this = false;
  int depth = 0;
  std::string_view before;  // the word in front
  for (std::size_t at = 0; at < code.size();) {
    const char c = code[at];
    if (c == '{' || c == '(' || c == '[') ++depth;
    if (c == '}' || c == ')' || c == ']') --depth;
    if (!is_word_byte(c)) {
      before = {};
      ++at;
      continue;
    }
    const std::string_view word = word_at(code, at);
    const std::size_t end = at + word.size();
    const bool spaced = end < code.size() && code[end] == ' ';
    const bool member = at > 0 && code[at - 1] == '.';
    const bool declared =
        before == "let" || before == "var" || before == "const" || before == "class" || before == "function";
    if (depth <= 0 && declared) own.insert(word);
    exports = exports || word == "export" || word == "exports";
    if (word == "import" && !member) take_imported(code.substr(end), imported);
    if (depth <= 0 && word == "new") instance = true;
    if (!member && !declared) {
      std::size_t next = end;
      std::string_view last;
      while (next < code.size() && code[next] == '.') {
        last = word_at(code, next + 1);
        next += 1 + last.size();
      }
      if (next < code.size() && code[next] == '[') next = std::min(code.find(']', next), code.size() - 1) + 1;
      const std::string_view rest = code.substr(std::min(next, code.size()));
      const bool enters = takes_entry(last) && rest.size() > 1 && rest[0] == '(' && rest[1] != ')';
      if (assigns(rest) || enters) {
        (word == "this" ? given_to_this : given[word]) = true;
        if (next != end && word != "process" && hands_variable(rest)) variables.insert(word);
      }
    }
    before = spaced ? word : std::string_view();
    at = end + (spaced ? 1 : 0);
  }
  if (std::any_of(variables.begin(), variables.end(), [&](std::string_view name) { return imported.count(name) != 0; }))
    return Keeping::variable;
  const bool keeps =
      std::any_of(given.begin(), given.end(), [&](const auto& entry) { return own.count(entry.first) != 0; });
  return exports && (keeps || (instance && given_to_this)) ? Keeping::values : Keeping::nothing;
}

}  // namespace guard
