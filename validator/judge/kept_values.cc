// How it works. Names that are declared outside of every bracket are collected as they come, and so is every place
// where a name is given a value, or a member of it, or an entry. The two are compared at the end, as functions stand in
// front of what they use.
#include "validator/judge/kept_values.h"

#include <array>
#include <unordered_set>

#include "rules/surface.h"

namespace guard {
namespace {

constexpr std::array<std::string_view, 5> kDeclares = {"let", "var", "const", "class", "function"};

bool gives_value(std::string_view rest) noexcept {
  for (const std::string_view sign : {"||=", "\?\?=", "&&=", "+="}) {
    if (rest.starts_with(sign)) return true;
  }
  return rest.size() > 1 && assigns(rest);
}

// Does a variable of the environment stand in the rest of the statement?
bool hands_variable(std::string_view rest) noexcept {
  constexpr std::size_t kStatementMax = 400;
  const std::string_view statement = rest.substr(0, std::min(rest.find_first_of(";\n"), kStatementMax));
  for (const std::string_view read : {"process.env.", "process.env[", "Bun.env.", "import.meta.env."}) {
    if (statement.find(read) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

Keeping keeps_values(const CodeText& code) {
  std::unordered_set<std::string_view> own;
  std::unordered_set<std::string_view> imported;
  std::unordered_set<std::string_view> given;
  std::unordered_set<std::string_view> variables;  // of the names in `given`: those that are handed a variable
  bool instance = false;
  bool exports = false;
  std::size_t import_end = 0;
  for (const std::string_view word : code.names()) {
    const std::size_t at = code.place_of(word);
    const std::size_t end = at + word.size();
    const bool member = at > 0 && code.at(at - 1) == '.';
    const bool declared = is_one_of(kDeclares, code.keyword_before(at));
    const bool outermost = (declared || word == "new") && code.enclosing(at) == CodeText::kNowhere;
    instance = instance || (outermost && word == "new");
    if (outermost && declared) own.insert(word);
    exports = exports || word == "export" || word == "exports";
    // The names in ` a,{b,c as d}from"e"`; the words of `{b as c}` are taken, too.
    if (at < import_end) imported.insert(word);
    if (word == "import" && !member && at >= import_end)
      import_end = std::min(code.text().find_first_of("\"(;.", end), code.text().size());
    if (member || declared) continue;
    std::size_t next = end;
    std::string_view last;
    while (code.at(next) == '.') {
      last = code.name_at(next + 1);
      next += 1 + last.size();
    }
    if (code.at(next) == '[') next = std::min(code.partner(next), code.text().size() - 1) + 1;
    const std::string_view rest = code.behind(next);
    const bool enters = rest.size() > 1 && rest[0] == '(' && rest[1] != ')' && is_word_of("takes_entry", last);
    if (!gives_value(rest) && !enters) continue;
    given.insert(word);
    if (next != end && word != "process" && word != "this" && hands_variable(rest)) variables.insert(word);
  }
  const auto any = [](const auto& names, const auto& others) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return others.count(name) != 0; });
  };
  if (any(variables, imported)) return Keeping::variable;
  const bool keeps = any(given, own) || (instance && given.count("this") != 0);
  return exports && keeps ? Keeping::values : Keeping::nothing;
}

}  // namespace guard
