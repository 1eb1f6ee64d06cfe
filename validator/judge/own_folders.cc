// How it works. Each word that may delete has to be a call with a bare name. Each place of that name in the code view
// has to be a declaration, an assignment of what mkdtemp returned, or a use; a parameter, a pattern or a loop may give
// it any path.
#include "validator/judge/own_folders.h"

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "rules/surface.h"
#include "validator/values/known_names.h"

namespace guard {
namespace {

constexpr std::size_t kPlacesMax = 400;
constexpr std::size_t kNamesMax = 100;
constexpr std::size_t kLevelsMax = 64;
constexpr std::size_t kImportMax = 2000;  // bytes of one import
constexpr int kNamesDeep = 3;
constexpr std::size_t kNowhere = CodeText::kNowhere;

// Other ways to delete, and what moves other things to where they are deleted. A link is deleted itself, not what it
// leads to.
// What gives a name a value that is never a folder, and what may leave it as it is.
constexpr std::array<std::string_view, 8> kCompounds = {"+=", "-=", "*=", "/=", "%=", "|=", "&=", "^="};
constexpr std::array<std::string_view, 3> kDefaults = {"||=", "\?\?=", "&&="};
constexpr std::array<std::string_view, 4> kAsks = {"if", "while", "switch", "for"};
constexpr std::array<std::string_view, 3> kDeclares = {"let", "const", "var"};

constexpr std::array<std::string_view, 5> kFileModules = {
    "fs", "node:fs", "fs/promises", "node:fs/promises", "fs-extra"};
constexpr std::array<std::string_view, 2> kPathModules = {"path", "node:path"};

struct Module {
  std::string_view name;  // that the code view gives it
  std::span<const std::string_view> specifiers;
};
constexpr Module kFileSystem = {"fs", kFileModules};
constexpr Module kPaths = {"path", kPathModules};

template <typename List>
std::size_t prefix_of(const List& list, std::string_view text) {
  for (const std::string_view prefix : list) {
    if (text.starts_with(prefix)) return prefix.size();
  }
  return 0;
}

bool ends(std::string_view rest) noexcept { return rest.empty() || is_byte_of(";\n),}", rest.front()); }

// for (name of list)
bool loops_over(std::string_view rest) noexcept {
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  return (rest.starts_with("of") || rest.starts_with("in")) && (rest.size() == 2 || !is_word_byte(rest[2]));
}

class Removals {
 public:
  Removals(const SourceViews& views, std::string_view bytes)
      : views_(views), bytes_(bytes), code_(views.view(View::code)) {}

  bool are_of_own_folders() {
    std::set<std::pair<std::string_view, Place>> names;
    for (const std::string_view word : code_.names()) {
      const std::size_t at = code_.place_of(word);
      const std::size_t end = at + word.size();
      if (is_word_of("removals", word) && !is_imported(at)) {
        const auto removal = removed(at, end);
        if (!removal) return false;
        names.insert(*removal);
        if (names.size() > kNamesMax) return false;
      }
      const bool used = code_.at(end) == '(' || (end < code_.text().size() && code_.ahead_of(at).ends_with('.'));
      if (is_word_of("other_removals", word) && !is_imported(at) && used) return false;
    }
    return !names.empty() && is_own_module(kFileSystem) && !replaces("mkdtemp", kFileSystem) &&
        !replaces("realpath", kFileSystem) &&
        std::all_of(names.begin(), names.end(), [this](const auto& name) { return is_own(name.first, name.second); }) &&
        (!joins_ || (is_own_module(kPaths) && !replaces("join", kPaths)));
  }

 private:
  enum class Place : std::uint8_t { folder, entry };  // the folder itself, or it or an entry of it

  // In import fs,{...}from"fs" or const{...}=require("fs").
  bool is_imported(std::size_t at) const {
    const std::size_t brace = code_.enclosing(at);
    if (brace == kNowhere || code_.at(brace) != '{' || at - brace > kImportMax) return false;
    if (code_.text().substr(brace, at - brace).find_first_of(";()=") != kNowhere) return false;
    std::size_t head = brace;
    if (code_.ahead_of(head).ends_with(',')) {  // import fs,{
      head -= 1 + code_.name_before(head - 1).size();
      if (code_.ahead_of(head).ends_with(' ')) --head;
    }
    const std::string_view word = code_.name_before(head);
    if (word == "import" && !code_.ahead_of(head - word.size()).ends_with('.')) return true;
    const std::size_t close = code_.partner(brace);
    return close != kNowhere && code_.behind(close + 1).starts_with("=require(\"");
  }

  // The name in fs.rmSync(name), fs.promises.rm(name,...) or fs.rmSync(path.join(name,"part")).
  std::optional<std::pair<std::string_view, Place>> removed(std::size_t at, std::size_t end) {
    const std::string_view chain = code_.chain_before(at);
    if ((chain != "fs." && chain != "fs.promises.") || code_.at(end) != '(') return std::nullopt;
    std::size_t behind = end + 1;
    const std::string_view base = joined(behind);
    const std::string_view name = base.empty() ? code_.name_at(behind) : base;
    if (base.empty()) behind += name.size();
    if ((code_.at(behind) != ',' && code_.at(behind) != ')') || !is_identifier(name)) return std::nullopt;
    return std::pair(name, base.empty() ? Place::entry : Place::folder);
  }

  // The name in path.join(name,"part"), where that stands at `at`, which is then behind it; else empty.
  std::string_view joined(std::size_t& at) {
    constexpr std::string_view kJoin = "path.join(";
    if (!code_.behind(at).starts_with(kJoin)) return {};
    const std::string_view name = code_.name_at(at + kJoin.size());
    const std::size_t text = at + kJoin.size() + name.size() + 1;
    if (!is_identifier(name) || !code_.behind(text - 1).starts_with(",\"\")")) return {};
    const TextSpan span = views_.original(View::code, text, text + 2);
    if (span.end <= span.begin + 2 || span.end > bytes_.size()) return {};
    const std::string_view quoted = bytes_.substr(span.begin, span.end - span.begin);
    const std::string_view part = quoted.substr(1, quoted.size() - 2);
    const auto plain = [](char c) { return is_word_byte(c) || c == '.' || c == '-'; };
    if ((quoted[0] != '"' && quoted[0] != '\'') || quoted.back() != quoted[0] || part == "." || part == ".." ||
        !std::all_of(part.begin(), part.end(), plain))
      return {};
    joins_ = true;
    at = text + 3;
    return name;
  }

  // Is the name, where the file has one of its own for it, the module's?
  bool is_own_module(const Module& module) const {
    for (const std::size_t at : code_.places_of(module.name)) {
      if (code_.ahead_of(at).ends_with('.')) continue;
      const std::string_view rest = code_.behind(at + module.name.size());
      if (rest.starts_with(",\"\")") && code_.ahead_of(at).ends_with("spyOn("))
        continue;  // replaces() sees which function
      if (rest.starts_with('.') || rest.starts_with('"') || rest.starts_with("/promises\"")) continue;
      const std::size_t source = rest.find('"');
      const std::string_view bound = rest.substr(0, source);
      const bool imported = bound.find_first_of(";=\n()") == kNowhere && bound.ends_with("from");
      if (source == kNowhere || (!imported && bound != "=require(")) return false;
      const std::string_view specifier = rest.substr(source + 1, rest.find('"', source + 1) - source - 1);
      if (!is_one_of(module.specifiers, specifier)) return false;
    }
    return true;
  }

  // A mocked module, or a function of it, whose name begins with `function`, that is another one.
  bool replaces(std::string_view function, const Module& module) const {
    const std::string_view strings = views_.view(View::strings);
    for (std::size_t at = strings.find('\x1d'); at != kNowhere; at = strings.find('\x1d', at + 1)) {
      const std::string_view ahead = strings.substr(0, at);
      const std::string_view text = strings.substr(at + 1, strings.find('\x1f', at) - at - 1);
      if ((text.starts_with(function) || is_one_of(module.specifiers, text)) && !ahead.ends_with("\x1eimport") &&
          !ahead.ends_with("\x1erequire"))
        return true;
    }
    return std::any_of(code_.names().begin(), code_.names().end(), [&](std::string_view name) {
      const std::size_t at = code_.place_of(name);
      const bool called = code_.ahead_of(at).ends_with('.') && code_.at(at + name.size()) == '(';
      return name.starts_with(function) && !called && !is_imported(at);
    });
  }

  bool is_own(std::string_view name, Place place, int depth = 0) {
    if (depth > kNamesDeep) return false;
    std::size_t places = 0;
    bool made = false;
    for (const std::size_t at : code_.places_of(name)) {
      const std::string_view ahead = code_.ahead_of(at);
      if (ahead.ends_with('.') && !ahead.ends_with("...")) continue;  // a member of something
      if (++places > kPlacesMax) return false;
      const std::size_t end = at + name.size();
      const std::string_view rest = code_.behind(end);
      const std::string_view keyword = code_.keyword_before(at);
      const bool declares = is_one_of(kDeclares, keyword);
      if (keyword == "function" || keyword == "class" || keyword == "import" || keyword == "as") return false;
      if (rest.starts_with("++") || rest.starts_with("--") || rest.starts_with("=>") || loops_over(rest)) return false;
      const std::size_t value = value_of(end, declares);
      if (value != kNowhere) {
        if (!is_made(value, name, place, depth)) return false;
        made = made || !is_nothing(value);
      } else if (!declares && may_be_given(at)) {
        return false;
      }
    }
    return made;
  }

  // Behind the `=` of `name=` or `let name:string=`; kNowhere where nothing is given. Compound assignments give
  // something, too.
  std::size_t value_of(std::size_t end, bool declares) const {
    std::size_t at = end;
    if (declares && code_.at(at) == ':') {
      at = code_.text().find_first_of("=;\n", at);
      if (at == kNowhere) return at;
    }
    const std::string_view rest = code_.behind(at);
    if (prefix_of(kDefaults, rest) != 0) return at + 3;
    if (prefix_of(kCompounds, rest) != 0) return code_.text().size();  // never a folder
    return assigns(rest) ? at + 1 : kNowhere;
  }

  // undefined, null or an empty text.
  bool is_nothing(std::size_t value) const {
    const std::string_view rest = code_.behind(value);
    std::size_t size = prefix_of(std::array<std::string_view, 2>{"undefined", "null"}, rest);
    if (rest.starts_with("\"\"")) {
      const TextSpan text = views_.original(View::code, value, value + 2);
      if (text.end - text.begin == 2) size = 2;
    }
    return size != 0 && ends(rest.substr(size));
  }

  bool is_made(std::size_t value, std::string_view name, Place place, int depth) {
    if (is_nothing(value)) return true;
    if (place == Place::entry) {
      const std::string_view base = joined(value);
      if (!base.empty()) return base != name && call_ends(value) && is_own(base, Place::folder, depth + 1);
    }
    constexpr std::array<std::string_view, 4> kWrappers = {
        "fs.realpathSync(", "fs.realpathSync.native(", "fs.realpath(", "fs.promises.realpath("};
    const std::size_t wrapper = prefix_of(kWrappers, code_.behind(value));
    value += wrapper;
    const std::string_view other = code_.name_at(value);
    const std::size_t end = value + other.size();
    if (is_identifier(other) && ends(code_.behind(end))) {
      return (other == name || is_own(other, place, depth + 1)) && (wrapper == 0 || ends(code_.behind(end + 1)));
    }
    constexpr std::array<std::string_view, 3> kMakers = {"fs.mkdtempSync(", "fs.mkdtemp(", "fs.promises.mkdtemp("};
    const std::size_t maker = prefix_of(kMakers, code_.behind(value));
    if (maker == 0) return false;
    std::size_t close = code_.partner(value + maker - 1);
    if (close == kNowhere) return false;
    if (wrapper != 0 && code_.at(close + 1) == ',') ++close;
    if (wrapper != 0 && code_.at(++close) != ')') return false;
    return call_ends(close + 1);
  }

  // Behind the `)` of a call: where lines end without a semicolon the next word follows it.
  bool call_ends(std::size_t at) const {
    const std::string_view next = code_.name_at(at);
    return next.empty() ? ends(code_.behind(at)) : next != "in" && next != "instanceof";
  }

  // Is this place in the parameters of a function or in a pattern that is assigned to, at any level around it?
  bool may_be_given(std::size_t at) const {
    std::size_t levels = 0;
    for (std::size_t open = code_.enclosing(at); open != kNowhere; open = code_.enclosing(open)) {
      const std::size_t close = code_.partner(open);
      if (++levels > kLevelsMax || close == kNowhere) return true;
      const std::string_view rest = code_.behind(close + 1);
      if (code_.at(open) == '(') {
        const bool statement = is_one_of(kAsks, code_.name_before(open));
        if (rest.starts_with("=>") || rest.starts_with(':') || (rest.starts_with('{') && !statement)) return true;
      } else {
        if (assigns(rest) || rest.starts_with("=>")) return true;  // also of {a}=>b
        if (loops_over(rest)) return true;
        const std::string_view ahead = code_.ahead_of(open);
        if (ahead.ends_with("import")) return true;
        if (ahead.ends_with("=>") || ahead.ends_with(')')) return false;
      }
    }
    return false;
  }

  const SourceViews& views_;
  std::string_view bytes_;
  CodeText code_;
  bool joins_ = false;
};

}  // namespace

bool removes_only_own_folders(const SourceViews& views, std::string_view bytes) {
  return Removals(views, bytes).are_of_own_folders();
}

}  // namespace guard
