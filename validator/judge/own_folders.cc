// How it works. Each word that may delete has to be a call with a bare name. Each place of that name in the code view
// has to be a declaration, an assignment of what mkdtemp returned, or a use; a parameter, a pattern or a loop may give
// it any path.
#include "validator/judge/own_folders.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "validator/values/known_names.h"

namespace guard {
namespace {

constexpr std::size_t kPlacesMax = 400;
constexpr std::size_t kNamesMax = 100;
constexpr std::size_t kLevelsMax = 64;
constexpr std::size_t kImportMax = 2000;      // bytes of one import
constexpr std::size_t kStepsMax = 1U << 25U;  // bytes that are read again; what takes more is not understood
constexpr int kNamesDeep = 3;

constexpr std::array<std::string_view, 6> kRemovals = {"rm", "rmSync", "rmdir", "rmdirSync", "unlink", "unlinkSync"};
// Other ways to delete, and what moves other things to where they are deleted. A link is deleted itself, not what it
// leads to.
constexpr std::array<std::string_view, 16> kOthers = {"rimraf", "rimrafSync", "remove", "removeSync", "emptyDir",
    "emptyDirSync", "rename", "renameSync", "mount", "move", "moveSync", "trash", "del", "eval", "mkdtempDisposable",
    "mkdtempDisposableSync"};

constexpr std::array<std::string_view, 5> kFileModules = {
    "fs", "node:fs", "fs/promises", "node:fs/promises", "fs-extra"};
constexpr std::array<std::string_view, 2> kPathModules = {"path", "node:path"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view word) noexcept {
  return std::find(names.begin(), names.end(), word) != names.end();
}

class Code {
 public:
  Code(const SourceViews& views, std::string_view bytes)
      : views_(views), bytes_(bytes), code_(views.view(View::code)) {}

  bool removes_only_own() {
    std::set<std::pair<std::string_view, Place>> names;
    for (std::size_t at = 0; at < code_.size();) {
      if (!is_word_byte(code_[at])) {
        ++at;
        continue;
      }
      const std::string_view word = word_at(at);
      const std::size_t end = at + word.size();
      if (is_one_of(kRemovals, word) && !is_imported(at)) {
        const auto removal = removed(at, end);
        if (!removal) return false;
        names.insert(*removal);
        if (names.size() > kNamesMax) return false;
      }
      if (is_one_of(kOthers, word) && !is_imported(at) && end < code_.size() &&
          (code_[end] == '(' || (at > 0 && code_[at - 1] == '.')))
        return false;
      at = end;
    }
    return !names.empty() && is_own_module("fs", kFileModules) && !replaces("mkdtemp", kFileModules) &&
        !replaces("realpath", kFileModules) &&
        std::all_of(names.begin(), names.end(), [this](const auto& name) { return is_own(name.first, name.second); }) &&
        (!joins_ || (is_own_module("path", kPathModules) && !replaces("join", kPathModules)));
  }

 private:
  enum class Place : std::uint8_t { folder, entry };  // the folder itself, or it or an entry of it

  std::string_view word_at(std::size_t at) const noexcept {
    std::size_t end = at;
    while (end < code_.size() && is_word_byte(code_[end])) ++end;
    return code_.substr(at, end - at);
  }

  std::string_view word_before(std::size_t at) const noexcept {
    std::size_t begin = at;
    while (begin > 0 && is_word_byte(code_[begin - 1])) --begin;
    return code_.substr(begin, at - begin);
  }

  // In import fs,{...}from"fs" or const{...}=require("fs").
  bool is_imported(std::size_t at) const noexcept {
    const std::string_view ahead = code_.substr(at - std::min(at, kImportMax), std::min(at, kImportMax));
    const std::size_t brace = ahead.find_last_of("{};()=");
    if (brace == std::string_view::npos || ahead[brace] != '{') return false;
    std::string_view head = ahead.substr(0, brace);
    if (head.ends_with(',')) {  // import fs,{
      head.remove_suffix(1);
      head.remove_suffix(word_before(at - ahead.size() + head.size()).size());
      if (head.ends_with(' ')) head.remove_suffix(1);
    }
    if (head.ends_with("import") &&
        (head.size() == 6 || (!is_word_byte(head[head.size() - 7]) && head[head.size() - 7] != '.')))
      return true;
    const std::size_t close = code_.substr(at, kImportMax).find('}');
    return close != std::string_view::npos && code_.substr(at + close + 1).starts_with("=require(\"");
  }

  // The name in fs.rmSync(name), fs.promises.rm(name,...) or fs.rmSync(path.join(name,"part")).
  std::optional<std::pair<std::string_view, Place>> removed(std::size_t at, std::size_t end) const noexcept {
    const std::string_view ahead = code_.substr(0, at);
    const std::string_view root = ahead.ends_with("fs.promises.") ? "fs.promises." : "fs.";
    if (!ahead.ends_with(root)) return std::nullopt;
    const std::size_t begin = at - root.size();
    if (begin > 0 && (is_word_byte(code_[begin - 1]) || code_[begin - 1] == '.')) return std::nullopt;
    if (end >= code_.size() || code_[end] != '(') return std::nullopt;
    std::size_t behind = end + 1;
    const std::string_view base = joined(behind);
    const std::string_view name = base.empty() ? word_at(behind) : base;
    if (base.empty()) behind += name.size();
    const bool alone = behind < code_.size() && (code_[behind] == ',' || code_[behind] == ')');
    if (!alone || !is_identifier(name)) return std::nullopt;
    return std::pair(name, base.empty() ? Place::entry : Place::folder);
  }

  // The name in path.join(name,"part"), where that stands at `at`, which is then behind it; else empty.
  std::string_view joined(std::size_t& at) const noexcept {
    constexpr std::string_view kJoin = "path.join(";
    if (!code_.substr(std::min(at, code_.size())).starts_with(kJoin)) return {};
    const std::string_view name = word_at(at + kJoin.size());
    const std::size_t text = at + kJoin.size() + name.size() + 1;
    if (!is_identifier(name) || !code_.substr(text - 1).starts_with(",\"\")")) return {};
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

  // Is `own`, where the file has a name of its own for it, the module?
  template <std::size_t N>
  bool is_own_module(std::string_view own, const std::array<std::string_view, N>& modules) const noexcept {
    for (std::size_t at = code_.find(own); at != std::string_view::npos; at = code_.find(own, at + 1)) {
      if ((at > 0 && (is_word_byte(code_[at - 1]) || code_[at - 1] == '.')) || word_at(at) != own) continue;
      const std::string_view rest = code_.substr(at + own.size());
      if (rest.starts_with(",\"\")") && code_.substr(0, at).ends_with("spyOn("))
        continue;  // replaces() sees which function
      if (rest.starts_with('.') || rest.starts_with('"') || rest.starts_with("/promises\"")) continue;
      const std::size_t source = rest.find('"');
      const std::string_view bound = rest.substr(0, source);
      const bool imported = bound.find_first_of(";=\n()") == std::string_view::npos && bound.ends_with("from");
      if (!imported && bound != "=require(") return false;
      const std::string_view module = rest.substr(source + 1, rest.find('"', source + 1) - source - 1);
      if (!is_one_of(modules, module)) return false;
    }
    return true;
  }

  // A mocked module, or a function of it, whose name begins with `function`, that is another one.
  template <std::size_t N>
  bool replaces(std::string_view function, const std::array<std::string_view, N>& modules) const {
    const std::string_view strings = views_.view(View::strings);
    for (std::size_t at = strings.find('\x1d'); at != std::string_view::npos; at = strings.find('\x1d', at + 1)) {
      const std::string_view ahead = strings.substr(0, at);
      const std::string_view text = strings.substr(at + 1, strings.find('\x1f', at) - at - 1);
      if ((text.starts_with(function) || is_one_of(modules, text)) && !ahead.ends_with("\x1eimport") &&
          !ahead.ends_with("\x1erequire"))
        return true;
    }
    for (std::size_t at = code_.find(function); at != std::string_view::npos; at = code_.find(function, at + 1)) {
      if (at > 0 && is_word_byte(code_[at - 1])) continue;
      const std::size_t end = at + word_at(at).size();
      const bool called = code_.substr(0, at).ends_with('.') && end < code_.size() && code_[end] == '(';
      if (!called && !is_imported(at)) return true;
    }
    return false;
  }

  bool is_own(std::string_view name, Place place, int depth = 0) const {
    if (depth > kNamesDeep) return false;
    std::size_t places = 0;
    bool made = false;
    for (std::size_t at = code_.find(name); at != std::string_view::npos; at = code_.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at > 0 && is_word_byte(code_[at - 1])) || (end < code_.size() && is_word_byte(code_[end]))) continue;
      if (at > 0 && code_[at - 1] == '.' && !code_.substr(0, at).ends_with("...")) continue;  // a member of something
      if (++places > kPlacesMax) return false;
      const std::string_view rest = code_.substr(end);
      const std::string_view keyword = at > 0 && code_[at - 1] == ' ' ? word_before(at - 1) : std::string_view();
      const bool declares = keyword == "let" || keyword == "const" || keyword == "var";
      if (!declares && (keyword == "function" || keyword == "class" || keyword == "import" || keyword == "as"))
        return false;
      if (rest.starts_with("++") || rest.starts_with("--") || rest.starts_with("=>") || loops_over(rest)) return false;
      const std::size_t value = value_of(end, declares);
      if (value != std::string_view::npos) {
        if (!is_made(value, name, place, depth)) return false;
        made = made || !is_nothing(value);
        continue;
      }
      if (!declares && may_be_given(at)) return false;
    }
    return made;
  }

  // Behind the `=` of `name=` or `let name:string=`; npos where nothing is given. Compound assignments give something,
  // too.
  std::size_t value_of(std::size_t end, bool declares) const noexcept {
    std::size_t at = end;
    if (declares && at < code_.size() && code_[at] == ':') {
      at = code_.find_first_of("=;\n", at);
      if (at == std::string_view::npos) return at;
    }
    const std::string_view rest = code_.substr(at);
    for (const std::string_view sign : {"||=", "\?\?=", "&&="}) {
      if (rest.starts_with(sign)) return at + 3;
    }
    for (const std::string_view sign : {"+=", "-=", "*=", "/=", "%=", "|=", "&=", "^="}) {
      if (rest.starts_with(sign)) return code_.size();  // never a folder
    }
    const bool given = rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>");
    return given ? at + 1 : std::string_view::npos;
  }

  // undefined, null or an empty text.
  bool is_nothing(std::size_t value) const {
    const std::string_view rest = code_.substr(value);
    std::size_t size = 0;
    for (const std::string_view constant : {"undefined", "null"}) {
      if (rest.starts_with(constant)) size = constant.size();
    }
    if (rest.starts_with("\"\"")) {
      const TextSpan text = views_.original(View::code, value, value + 2);
      if (text.end - text.begin == 2) size = 2;
    }
    return size != 0 && (size == rest.size() || std::string_view(";\n),}").find(rest[size]) != std::string_view::npos);
  }

  bool is_made(std::size_t value, std::string_view name, Place place, int depth) const {
    if (is_nothing(value)) return true;
    if (place == Place::entry) {
      const std::string_view base = joined(value);
      if (!base.empty()) return base != name && call_ends(value) && is_own(base, Place::folder, depth + 1);
    }
    std::string_view rest = code_.substr(std::min(value, code_.size()));
    std::size_t parentheses = 0;
    for (const std::string_view wrapper :
        {"fs.realpathSync(", "fs.realpathSync.native(", "fs.realpath(", "fs.promises.realpath("}) {
      if (!rest.starts_with(wrapper)) continue;
      rest.remove_prefix(wrapper.size());
      parentheses = 1;
      break;
    }
    const std::string_view other = word_at(code_.size() - rest.size());
    if (is_identifier(other) && ends(rest.substr(other.size()))) {
      return (other == name || is_own(other, place, depth + 1)) &&
          (parentheses == 0 || ends(rest.substr(other.size() + 1)));
    }
    for (const std::string_view maker : {"fs.mkdtempSync(", "fs.mkdtemp(", "fs.promises.mkdtemp("}) {
      if (!rest.starts_with(maker)) continue;
      const std::size_t open = code_.size() - rest.size() + maker.size() - 1;
      std::size_t close = close_of(open);
      if (close == std::string_view::npos) return false;
      if (parentheses == 1 && code_.substr(close + 1).starts_with(',')) ++close;
      if (parentheses == 1 && !code_.substr(++close).starts_with(')')) return false;
      return call_ends(close + 1);
    }
    return false;
  }

  // for (name of list)
  static bool loops_over(std::string_view rest) noexcept {
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    return (rest.starts_with("of") || rest.starts_with("in")) && (rest.size() == 2 || !is_word_byte(rest[2]));
  }

  static bool ends(std::string_view rest) noexcept {
    return rest.empty() || std::string_view(";\n),}").find(rest.front()) != std::string_view::npos;
  }

  // Behind the `)` of a call: where lines end without a semicolon the next word follows it.
  bool call_ends(std::size_t at) const noexcept {
    const std::string_view next = word_at(at);
    return next.empty() ? ends(code_.substr(at)) : next != "in" && next != "instanceof";
  }

  std::size_t close_of(std::size_t open) const noexcept {
    int depth = 0;
    for (std::size_t at = open; at < code_.size() && ++steps_ < kStepsMax; ++at) {
      const char c = code_[at];
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && --depth == 0) return at;
    }
    return std::string_view::npos;
  }

  // Is this place in the parameters of a function or in a pattern that is assigned to, at any level around it?
  bool may_be_given(std::size_t at) const noexcept {
    int depth = 0;
    std::size_t levels = 0;
    for (std::size_t open = at; open-- > 0;) {
      if (++steps_ >= kStepsMax) return true;
      const char c = code_[open];
      if (c == ')' || c == ']' || c == '}') ++depth;
      if (c != '(' && c != '[' && c != '{') {
        if (c == ';' && depth == 0) return false;  // a statement of a block
        continue;
      }
      if (depth-- > 0) continue;
      depth = 0;
      if (++levels > kLevelsMax) return true;
      const std::size_t close = close_of(open);
      if (close == std::string_view::npos) return true;
      const std::string_view rest = code_.substr(close + 1);
      if (c == '(') {
        const std::string_view word = word_before(open);
        const bool statement = word == "if" || word == "while" || word == "switch";
        if (rest.starts_with("=>") || rest.starts_with(':') || (rest.starts_with('{') && !statement)) return true;
      } else {
        if (rest.starts_with('=') && !rest.starts_with("==")) return true;  // also of {a}=>b
        if (loops_over(rest)) return true;
        const std::string_view ahead = code_.substr(0, open);
        if (ahead.ends_with("=>") || ahead.ends_with(')') || ahead.ends_with("import"))
          return ahead.ends_with("import");
      }
    }
    return false;
  }

  const SourceViews& views_;
  std::string_view bytes_;
  std::string_view code_;
  mutable bool joins_ = false;
  mutable std::size_t steps_ = 0;
};

}  // namespace

bool removes_only_own_folders(const SourceViews& views, std::string_view bytes) {
  return Code(views, bytes).removes_only_own();
}

}  // namespace guard
