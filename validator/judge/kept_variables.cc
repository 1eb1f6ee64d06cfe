#include "validator/judge/kept_variables.h"

#include <array>
#include <string>

#include "validator/values/known_names.h"

namespace guard {
namespace {

constexpr std::size_t kConditionMax = 400;
constexpr std::string_view kEnvironment = "process.env";
constexpr std::array<std::string_view, 3> kDeclares = {"let", "const", "var"};
constexpr std::array<std::string_view, 8> kAsksOnly = {
    "if", "while", "skipIf", "runIf", "todoIf", "failIf", "Boolean", "not"};

bool ends_statement(std::string_view rest) noexcept { return rest.empty() || is_byte_of(";)}\n", rest.front()); }

}  // namespace

bool KeptVariables::goes_nowhere(std::size_t name, std::size_t end) {
  Place read{name, end};
  if (code_.at(name) != '[') {
    if (!code_.ahead_of(name).ends_with('.')) return false;
    --read.begin;
  } else {
    read.end = code_.text().find(']', name);
    // Of what is computed by a call, the next one may be something else.
    if (read.end == CodeText::kNowhere ||
        code_.text().substr(name + 1, read.end - name - 1).find_first_of("([{\"`=+-") != CodeText::kNowhere)
      return false;
    ++read.end;
  }
  if (!code_.ahead_of(read.begin).ends_with(kEnvironment)) return false;
  read.begin -= kEnvironment.size();
  return is_only_asked(read) || is_put_back(read) || is_put_aside(read);
}

bool KeptVariables::is_only_asked(Place read) const {
  const std::string_view rest = code_.behind(read.end);
  if (is_asked(rest)) return true;
  const std::string_view ahead = code_.ahead_of(read.begin);
  if (!ends_statement(rest) && !is_byte_of(",:]", rest[0]) && !rest.starts_with("||")) return false;
  if (ahead.ends_with('!') || ahead.ends_with("typeof ")) return true;
  // One of several in the condition of an if: nothing but names and signs up to its parenthesis.
  const std::string_view near = ahead.substr(ahead.size() - std::min(ahead.size(), kConditionMax));
  const std::size_t open = near.find_last_of("(),;{}[]`");
  if (open == CodeText::kNowhere || near[open] != '(' ||
      !is_one_of(kAsksOnly, code_.name_before(code_.place_of(near) + open)))
    return false;
  const std::string_view between = near.substr(open + 1);
  for (std::size_t at = between.find('='); at != CodeText::kNowhere; at = between.find('=', at + 1)) {
    const bool compares = between.substr(at).starts_with("==") || (at > 0 && is_byte_of("!=<>", between[at - 1]));
    if (!compares) return false;
  }
  return (between.empty() || between.ends_with("&&") || between.ends_with("||")) &&
      (rest.starts_with(')') || rest.starts_with("||"));
}

// process.env.A=process.env.A, once names are followed.
bool KeptVariables::is_put_back(Place read) const {
  const std::string_view ahead = code_.ahead_of(read.begin);
  const std::string_view variable = code_.text().substr(read.begin, read.end - read.begin);
  if (!ahead.ends_with('=') || !ends_statement(code_.behind(read.end))) return false;
  const std::string_view target = ahead.substr(0, ahead.size() - 1);
  return target.ends_with(variable) &&
      (target.size() == variable.size() || !is_word_byte(target[target.size() - variable.size() - 1]));
}

// Given to a variable that stands nowhere else, or only where it is asked for or put back, and put back somewhere.
// Whatever else it is used for stands in the view as process.env.A itself.
bool KeptVariables::is_put_aside(Place read) {
  if (!ends_statement(code_.behind(read.end))) return false;
  const std::string_view name = name_given(read.begin);
  if (name.empty()) return false;
  const std::string_view variable = code_.text().substr(read.begin, read.end - read.begin);
  const auto [known, fresh] = kept_.try_emplace({name, variable}, false);
  if (fresh) known->second = stands_nowhere_else(name, variable);
  return known->second;
}

// "a" of `let a:string=` or of the statement `a=` in front of `value`; empty for members, fields, patterns and what is
// exported.
std::string_view KeptVariables::name_given(std::size_t value) const {
  std::string_view ahead = code_.ahead_of(value);
  if (!ahead.ends_with('=')) return {};
  ahead.remove_suffix(1);
  const std::size_t statement = ahead.find_last_of(";{}()\n");
  if (statement == CodeText::kNowhere || ahead[statement] == '(') return {};
  std::string_view target = ahead.substr(statement + 1);
  const std::string_view keyword = target.substr(0, target.find(' '));
  const bool declares = is_one_of(kDeclares, keyword);
  if (declares) target.remove_prefix(std::min(keyword.size() + 1, target.size()));
  if (const std::size_t type = target.find(':'); type != CodeText::kNowhere) {
    if (!declares || target.find_first_of("=?,", type) != CodeText::kNowhere) return {};
    target = target.substr(0, type);
  }
  if (!is_identifier(target) || (!declares && !in_block(value))) return {};
  return target;
}

// Is a statement possible at `at`, or is it in the body of a class or in a pattern? Braces that no keyword or function
// stands in front of are not told apart.
bool KeptVariables::in_block(std::size_t at) const {
  const std::size_t brace = code_.enclosing_brace(at);
  return brace == CodeText::kNowhere ||
      (brace > 0 && code_.kind_of(brace) == CodeText::Brace::block && !is_byte_of(";{}\n", code_.at(brace - 1)));
}

bool KeptVariables::stands_nowhere_else(std::string_view name, std::string_view variable) const {
  // Texts that run may use any name.
  if (code_.text().find("eval(") != CodeText::kNowhere) return false;
  bool declared = false;
  const std::string back = std::string(variable) + "=";
  bool put_back = code_.text().find(back + std::string(variable)) != CodeText::kNowhere;
  for (const std::size_t at : code_.places_of(name)) {
    const std::string_view ahead = code_.ahead_of(at);
    const std::string_view rest = code_.behind(at + name.size());
    const std::string_view keyword = code_.keyword_before(at);
    if (is_one_of(kDeclares, keyword)) {
      const bool plain = rest.empty() || is_byte_of(";:\n", rest[0]) || (rest[0] == '=' && !rest.starts_with("=="));
      if (!plain || ahead.substr(0, ahead.size() - keyword.size() - 1).ends_with("export ")) return false;
      declared = true;
      continue;
    }
    if (ahead.ends_with('.')) return false;
    if (assigns(rest) && !ahead.empty() && is_byte_of(";{})\n", ahead.back()) && in_block(at)) continue;
    if (is_only_asked({at, at + name.size()})) continue;
    if (!ahead.ends_with(back) || !ends_statement(rest)) return false;
    put_back = true;
  }
  return declared && put_back;
}

}  // namespace guard
