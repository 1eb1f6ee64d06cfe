#include "validator/judge/kept_variables.h"

#include <algorithm>
#include <array>
#include <string>

#include "validator/values/known_names.h"

namespace guard {
namespace {

constexpr std::size_t kConditionMax = 400;
constexpr std::string_view kEnvironment = "process.env";

bool ends_statement(std::string_view rest) noexcept {
  return rest.empty() || std::string_view(";)}\n").find(rest.front()) != std::string_view::npos;
}

// Compared with something, or asked whether it is there.
bool is_reduced(std::string_view rest) noexcept {
  for (const std::string_view sign : {"===", "!==", "==", "!="}) {
    if (rest.starts_with(sign)) return true;
  }
  if (rest.starts_with("&&")) return !rest.starts_with("&&=");
  return rest.size() > 1 && rest[0] == '?' && rest[1] != '?' && rest[1] != '.';
}

std::string_view last_word(std::string_view text) noexcept {
  std::size_t begin = text.size();
  while (begin > 0 && is_word_byte(text[begin - 1])) --begin;
  return text.substr(begin);
}

bool asks_only(std::string_view callee) noexcept {
  static constexpr std::array<std::string_view, 8> kNames = {
      "if", "while", "skipIf", "runIf", "todoIf", "failIf", "Boolean", "not"};
  return std::find(kNames.begin(), kNames.end(), last_word(callee)) != kNames.end();
}

}  // namespace

bool KeptVariables::goes_nowhere(std::size_t name, std::size_t end) const {
  Place read{name, end};
  if (code_[name] != '[') {
    if (name == 0 || code_[name - 1] != '.') return false;
    --read.begin;
  } else {
    read.end = code_.find(']', name);
    // Of what is computed by a call, the next one may be something else.
    if (read.end == std::string_view::npos ||
        code_.substr(name + 1, read.end - name - 1).find_first_of("([{\"`=+-") != std::string_view::npos)
      return false;
    ++read.end;
  }
  if (!code_.substr(0, read.begin).ends_with(kEnvironment)) return false;
  read.begin -= kEnvironment.size();
  return is_only_asked(read) || is_put_back(read) || is_put_aside(read);
}

bool KeptVariables::is_only_asked(Place read) const {
  const std::string_view rest = code_.substr(read.end);
  if (is_reduced(rest)) return true;
  const std::string_view ahead = code_.substr(0, read.begin);
  const bool bare = ends_statement(rest) || rest.starts_with(',') || rest.starts_with("||") || rest.starts_with(':') ||
      rest.starts_with(']');
  if (!bare) return false;
  if (ahead.ends_with('!') || ahead.ends_with("typeof ")) return true;
  // One of several in the condition of an if: nothing but names and signs up to its parenthesis.
  const std::string_view near = ahead.substr(ahead.size() - std::min(ahead.size(), kConditionMax));
  const std::size_t open = near.find_last_of("(),;{}[]`");
  if (open == std::string_view::npos || near[open] != '(' || !asks_only(near.substr(0, open))) return false;
  const std::string_view between = near.substr(open + 1);
  for (std::size_t at = between.find('='); at != std::string_view::npos; at = between.find('=', at + 1)) {
    const bool compares = between.substr(at).starts_with("==") ||
        (at > 0 &&
            (between[at - 1] == '!' || between[at - 1] == '=' || between[at - 1] == '<' || between[at - 1] == '>'));
    if (!compares) return false;
  }
  return (between.empty() || between.ends_with("&&") || between.ends_with("||")) &&
      (rest.starts_with(')') || rest.starts_with("||"));
}

// process.env.A=process.env.A, once names are followed.
bool KeptVariables::is_put_back(Place read) const {
  const std::string_view ahead = code_.substr(0, read.begin);
  const std::string_view variable = code_.substr(read.begin, read.end - read.begin);
  if (!ahead.ends_with('=') || !ends_statement(code_.substr(read.end))) return false;
  const std::string_view target = ahead.substr(0, ahead.size() - 1);
  return target.ends_with(variable) &&
      (target.size() == variable.size() || !is_word_byte(target[target.size() - variable.size() - 1]));
}

// Given to a variable that stands nowhere else, or only where it is asked for or put back, and put back somewhere.
// Whatever else it is used for stands in the view as process.env.A itself.
bool KeptVariables::is_put_aside(Place read) const {
  if (!ends_statement(code_.substr(read.end))) return false;
  const std::string_view name = name_given(read.begin);
  if (name.empty()) return false;
  const auto [known, fresh] = kept_.try_emplace({name, code_.substr(read.begin, read.end - read.begin)}, false);
  if (fresh) known->second = stands_nowhere_else(name, known->first.second);
  return known->second;
}

// "a" of `let a:string=` or of the statement `a=` in front of `value`; empty for members, fields, patterns and what is
// exported.
std::string_view KeptVariables::name_given(std::size_t value) const {
  std::string_view ahead = code_.substr(0, value);
  if (!ahead.ends_with('=')) return {};
  ahead.remove_suffix(1);
  const std::size_t statement = ahead.find_last_of(";{}()\n");
  if (statement == std::string_view::npos || ahead[statement] == '(') return {};
  std::string_view target = ahead.substr(statement + 1);
  bool declares = false;
  for (const std::string_view keyword : {"let ", "const ", "var "}) {
    if (!target.starts_with(keyword)) continue;
    target.remove_prefix(keyword.size());
    declares = true;
  }
  if (const std::size_t type = target.find(':'); type != std::string_view::npos) {
    if (!declares || target.find_first_of("=?,", type) != std::string_view::npos) return {};
    target = target.substr(0, type);
  }
  if (!is_identifier(target) || (!declares && !in_block(value))) return {};
  return target;
}

// Is a statement possible at `at`, or is it in the body of a class or in a pattern?
bool KeptVariables::in_block(std::size_t at) const {
  if (changes_.empty()) {
    changes_.push_back({0, true});
    std::vector<bool> open;
    for (std::size_t brace = code_.find_first_of("{}"); brace != std::string_view::npos;
         brace = code_.find_first_of("{}", brace + 1)) {
      if (code_[brace] == '{') {
        open.push_back(opens_block(brace));
      } else if (!open.empty()) {
        open.pop_back();
      }
      changes_.push_back({brace, open.empty() || open.back()});
    }
  }
  const auto behind = std::upper_bound(
      changes_.begin(), changes_.end(), at, [](std::size_t place, const Change& change) { return place <= change.at; });
  return behind == changes_.begin() || std::prev(behind)->block;
}

bool KeptVariables::opens_block(std::size_t brace) const {
  const std::string_view ahead = code_.substr(0, brace);
  if (ahead.ends_with("=>")) return true;
  const std::string_view word = last_word(ahead);
  if (word == "else" || word == "try" || word == "finally" || word == "do") return true;
  if (!ahead.ends_with(')')) return false;
  // class A extends f() {
  const std::size_t header = ahead.find_last_of(";{}\n");
  return ahead.substr(header == std::string_view::npos ? 0 : header).find("class") == std::string_view::npos;
}

bool KeptVariables::stands_nowhere_else(std::string_view name, std::string_view variable) const {
  // Texts that run may use any name.
  if (code_.find("eval(") != std::string_view::npos) return false;
  bool declared = false;
  const std::string back = std::string(variable) + "=";
  bool put_back = code_.find(back + std::string(variable)) != std::string_view::npos;
  for (std::size_t at = code_.find(name); at != std::string_view::npos; at = code_.find(name, at + 1)) {
    const std::string_view ahead = code_.substr(0, at);
    const std::string_view rest = code_.substr(at + name.size());
    if ((!ahead.empty() && is_word_byte(ahead.back())) || (!rest.empty() && is_word_byte(rest.front()))) continue;
    const std::string_view keyword = ahead.ends_with("const ") ? "const "
        : ahead.ends_with("let ")                              ? "let "
        : ahead.ends_with("var ")                              ? "var "
                                                               : "";
    if (!keyword.empty()) {
      const bool plain = rest.empty() || rest[0] == ';' || rest[0] == ':' || rest[0] == '\n' ||
          (rest[0] == '=' && !rest.starts_with("=="));
      if (!plain || ahead.substr(0, ahead.size() - keyword.size()).ends_with("export ")) return false;
      declared = true;
      continue;
    }
    if (ahead.ends_with('.')) return false;
    const bool given = rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>") && !ahead.empty() &&
        std::string_view(";{})\n").find(ahead.back()) != std::string_view::npos;
    if (given && in_block(at)) continue;
    const Place place{at, at + name.size()};
    if (is_only_asked(place)) continue;
    if (!ahead.ends_with(back) || !ends_statement(rest)) return false;
    put_back = true;
  }
  return declared && put_back;
}

}  // namespace guard
