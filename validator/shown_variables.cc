#include "validator/shown_variables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "validator/known_names.h"

namespace guard {
namespace {

constexpr std::size_t kNamesMax = 64;
constexpr std::size_t kPlacesMax = 2'000;
constexpr std::size_t kSearched = 32;  // bytes that a search passes while one is looked at
constexpr std::size_t kNowhere = std::string_view::npos;

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// What gives back, in one form or another, what it is given.
constexpr std::array<std::string_view, 38> kGivesBack = {
    "resolve", "then",   "all",     "of",         "from",        "stringify",   "parse",  "String",   "encodeURIComponent", "encodeURI", "btoa",   "atob",      "concat",
    "join",    "replace", "replaceAll", "padStart", "padEnd",    "map",         "flatMap", "at",      "push",               "unshift",   "set",    "append",    "add",
    "assign",  "freeze", "fromEntries", "entries", "values",     "structuredClone", "Object", "Array", "format",            "inspect",   "escape", "Promise"};
constexpr std::array<std::string_view, 18> kHolds = {"Headers", "URL", "URLSearchParams", "Request", "Response", "FormData", "Blob", "File", "Set",
                                                     "Map",     "Array", "Date",          "RegExp",  "String",   "Error",    "TypeError", "WeakRef", "Promise"};
constexpr std::array<std::string_view, 6> kFills = {"push", "unshift", "set", "append", "add", "assign"};
constexpr std::array<std::string_view, 9> kAsks = {"if", "while", "for", "switch", "catch", "skipIf", "runIf", "todoIf", "Boolean"};
constexpr std::array<std::string_view, 8> kTitled = {"test", "it", "describe", "suite", "specify", "each", "skip", "only"};
constexpr std::array<std::string_view, 3> kFails = {"reject", "fail", "done"};

bool is_chain_byte(char byte) { return is_name_byte(byte) || byte == '.'; }

std::string_view last_part(std::string_view chain) { return chain.substr(chain.rfind('.') == kNowhere ? 0 : chain.rfind('.') + 1); }
std::string_view first_part(std::string_view chain) { return chain.substr(0, chain.find('.')); }

class Shown {
 public:
  Shown(std::string_view code, std::size_t& work) : code_(code), work_(work) {}

  bool is_shown(std::size_t begin, std::size_t end) {
    places_.push_back({begin, end});
    for (std::size_t at = 0; at < places_.size(); ++at) {
      if (places_.size() > kPlacesMax || work_ == 0) return true;
      if (reaches(places_[at])) return true;
    }
    return false;
  }

 private:
  struct Place {
    std::size_t begin;
    std::size_t end;
  };

  void spend(std::size_t bytes) { work_ -= std::min(work_, bytes); }
  char at(std::size_t i) const { return i < code_.size() ? code_[i] : '\0'; }

  bool is_reduced(std::size_t end) const {
    const std::string_view rest = code_.substr(end);
    for (const std::string_view sign : {"===", "!==", "==", "!=", "&&", ".length", ">", "<"}) {
      if (rest.starts_with(sign)) return true;
    }
    return rest.size() > 1 && rest[0] == '?' && rest[1] != '?' && rest[1] != '.';
  }

  // Where the bracket opens that closes at `close`.
  std::size_t opening(std::size_t close) {
    std::size_t depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
      spend(1);
      if (code_[i] == ')' || code_[i] == ']' || code_[i] == '}') ++depth;
      if ((code_[i] == '(' || code_[i] == '[' || code_[i] == '{') && --depth == 0) return i;
    }
    return 0;
  }
  std::string_view chain_before(std::size_t i) const {
    std::size_t begin = i;
    while (begin > 0 && is_chain_byte(code_[begin - 1])) --begin;
    return code_.substr(begin, i - begin);
  }
  // Does a block of statements begin at the brace?
  bool opens_block(std::size_t brace) const {
    if (brace == 0) return true;
    const std::string_view ahead = code_.substr(0, brace);
    if (ahead.ends_with("=>")) return true;
    const std::string_view word = last_part(chain_before(brace));
    if (word == "else" || word == "try" || word == "finally" || word == "do" || word == "static") return true;
    return std::string_view(");{}\n").find(ahead.back()) != kNowhere || is_class_body(brace);
  }
  bool is_class_body(std::size_t brace) const {
    const std::string_view ahead = code_.substr(0, brace);
    const std::size_t statement = ahead.find_last_of(";{}\n");
    const std::string_view header = ahead.substr(statement == kNowhere ? 0 : statement + 1);
    return header.find("class") != kNowhere && header.find('=') > header.find("class");
  }

  void add_name(std::string_view name, std::string_view key, bool member) {
    if (!is_identifier(name) || names_.size() >= kNamesMax || !names_.emplace(name, member).second) return;
    spend(code_.size() / kSearched);
    for (std::size_t i = code_.find(name); i != kNowhere; i = code_.find(name, i + 1)) {
      spend(name.size());
      std::size_t end = i + name.size();
      const char before = i == 0 ? ';' : code_[i - 1];
      if (is_name_byte(before) || is_name_byte(at(end)) || (before == '.') != member) continue;
      const bool given = at(end) == '=' && at(end + 1) != '=' && at(end + 1) != '>';
      if (given || (at(end) == ':' && (before == '{' || before == ',')) || code_.substr(0, i).ends_with("function ") || code_.substr(0, i).ends_with("function*")) continue;
      // Another member than the one that holds it.
      if (!key.empty() && at(end) == '.') {
        std::size_t part = end + 1;
        while (is_name_byte(at(part))) ++part;
        if (code_.substr(end + 1, part - end - 1) != key && at(part) != '(') continue;
      }
      while (is_chain_byte(at(end))) ++end;
      while (end > i + name.size() && code_[end - 1] == '.') --end;
      std::size_t begin = i;
      while (begin > 0 && is_chain_byte(code_[begin - 1])) --begin;
      places_.push_back({begin, end});
    }
  }

  // Follows the value at a place outwards. True where it is shown.
  bool reaches(Place place) {
    if (is_reduced(place.end)) return false;
    std::size_t i = place.begin;
    const std::string_view ahead = code_.substr(0, i);
    if (ahead.ends_with('!') || ahead.ends_with("typeof ") || ahead.ends_with("delete ")) return false;
    std::size_t depth = 0;
    bool sibling = false;  // behind a comma: what is given a value there is another one
    std::string_view key;  // the outermost member of the object that it lies in
    while (i > 0) {
      if (work_ == 0) return true;
      const char byte = code_[--i];
      spend(1);
      if (byte == ')' || byte == ']' || byte == '}') {
        ++depth;
      } else if (byte == '(' || byte == '[' || byte == '{') {
        if (depth > 0) {
          --depth;
          continue;
        }
        if (byte == '(') {
          const std::string_view chain = chain_before(i);
          const std::string_view last = last_part(chain);
          if (!chain.empty()) {
            if (is_one_of(kAsks, last)) return false;
            if (last == "expect") {  // where it says nothing but whether it is there
              const std::string_view rest = code_.substr(closing(i));
              if (rest.starts_with(".toBeDefined") || rest.starts_with(".toBeT")) return false;
            }
            if (shows(chain, last, sibling)) return true;
            if (last == "function" || last.empty()) return false;
            const bool makes = code_.substr(0, i - chain.size()).ends_with("new ");
            if (makes ? !is_one_of(kHolds, last) : !is_one_of(kGivesBack, last)) {
              for (const std::string_view fake : {"=mock(", "=jest.fn(", "=vi.fn("}) {
                if (code_.find(std::string(last) + std::string(fake)) != kNowhere) add_name(last, {}, false);
              }
              return false;
            }
            if (!makes && is_one_of(kFills, last) && chain.find('.') != kNowhere) add_name(first_part(chain), {}, false);
            i -= chain.size() + (makes ? 4 : 0);
          }
        } else if (byte == '[') {
          if (i > 0 && (is_name_byte(code_[i - 1]) || code_[i - 1] == ')' || code_[i - 1] == ']')) return false;
        } else if (i > 0 && code_[i - 1] == '$') {
          const std::size_t tick = code_.rfind('`', i - 1);
          if (tick == kNowhere) return false;
          i = tick;
        } else if (opens_block(i)) {
          return statement(i + 1, i);
        }
        sibling = false;
      } else if (depth > 0) {
        continue;
      } else if (byte == ';' || byte == '\n') {
        return statement(i + 1, enclosing(i));
      } else if (byte == ',') {
        sibling = true;
      } else if (byte == ':' && !sibling) {
        const std::string_view word = last_part(chain_before(i));
        if (!word.empty()) key = word;
      } else if (byte == '>' && i > 0 && code_[i - 1] == '=') {
        --i;
        i = i > 0 && code_[i - 1] == ')' ? opening(i - 1) : i - last_part(chain_before(i)).size();
        if (code_.substr(0, i).ends_with("async ")) i -= 6;
        sibling = false;
      } else if (byte == '=' && !sibling) {
        if (at(i + 1) == '=' || (i > 0 && std::string_view("=!<>").find(code_[i - 1]) != kNowhere)) return false;
        give(i, key);
        return false;
      }
    }
    return statement(0, kNowhere);
  }

  std::size_t enclosing(std::size_t from) {
    std::size_t depth = 0;
    for (std::size_t i = from; i-- > 0;) {
      spend(1);
      if (code_[i] == '}' || code_[i] == ')' || code_[i] == ']') ++depth;
      if (code_[i] == '{' || code_[i] == '(' || code_[i] == '[') {
        if (depth == 0) return code_[i] == '{' ? i : kNowhere;
        --depth;
      }
    }
    return kNowhere;
  }

  // A statement that begins at `begin`, in the block that `brace` opens.
  bool statement(std::size_t begin, std::size_t brace) {
    const std::string_view text = code_.substr(begin);
    if (text.starts_with("throw")) return true;
    if ((!text.starts_with("return") && !text.starts_with("yield")) || brace == kNowhere || brace == 0) return false;
    // Of a function: what it is called as gives the value back.
    const std::string_view ahead = code_.substr(0, brace);
    if (ahead.ends_with("=>")) {
      std::size_t i = brace - 2;
      i = i > 0 && code_[i - 1] == ')' ? opening(i - 1) : i - last_part(chain_before(i)).size();
      if (code_.substr(0, i).ends_with("async ")) i -= 6;
      return reaches({i, brace + 1 < code_.size() ? closing(brace) : brace});
    }
    if (!ahead.ends_with(')')) return false;
    const std::string_view name = last_part(chain_before(opening(brace - 1)));
    add_name(name, {}, false);
    add_name(name, {}, true);
    return false;
  }
  std::size_t closing(std::size_t open) {
    std::size_t depth = 0;
    for (std::size_t i = open; i < code_.size(); ++i) {
      spend(1);
      if (code_[i] == '{' || code_[i] == '(' || code_[i] == '[') ++depth;
      if ((code_[i] == '}' || code_[i] == ')' || code_[i] == ']') && --depth == 0) return i + 1;
    }
    return code_.size();
  }

  // What stands before the `=` at `sign` is given the value.
  void give(std::size_t sign, std::string_view key) {
    std::size_t end = sign;
    while (end > 0 && std::string_view("+?|&").find(code_[end - 1]) != kNowhere) --end;
    if (end > 0 && (code_[end - 1] == ']' || code_[end - 1] == '}')) {
      const std::size_t open = opening(end - 1);
      for (std::size_t i = open; i < end; ++i) {
        std::size_t stop = i;
        while (stop < end && is_name_byte(code_[stop])) ++stop;
        if (stop > i) add_name(code_.substr(i, stop - i), {}, false);
        i = std::max(i, stop);
      }
      return;
    }
    std::string_view target = chain_before(end);
    // Behind a type: let a:string=
    std::size_t before = end - target.size();
    if (before > 0 && code_[before - 1] == ':') target = chain_before(before - 1);
    before = static_cast<std::size_t>(target.data() - code_.data());
    const std::string_view name = last_part(target);
    const char ahead = before == 0 ? ';' : code_[before - 1];
    const bool member = target.find('.') != kNowhere;
    if (!member) add_name(name, key, false);
    // A field of a class.
    if (member || ahead == '{' || ahead == ';' || ahead == '}' || ahead == '\n') add_name(name, key, true);
  }

  bool shows(std::string_view chain, std::string_view last, bool sibling) const {
    if (last == "expect" || chain == "expect.soft" || chain.starts_with("assert") || chain.starts_with("console.") || is_one_of(kFails, last)) return true;
    if (last.size() > 2 && last.starts_with("to") && std::isupper(static_cast<unsigned char>(last[2])) != 0 && chain.starts_with('.')) return true;
    static constexpr std::array<std::string_view, 6> kCompares = {"equal", "strictEqual", "notStrictEqual", "deepEqual", "deepStrictEqual", "notDeepEqual"};
    if (is_one_of(kCompares, last)) return true;
    return !sibling && (is_one_of(kTitled, first_part(chain)) || last == "each");
  }

  std::string_view code_;
  std::vector<Place> places_;
  std::set<std::pair<std::string_view, bool>> names_;
  std::size_t& work_;
};

}  // namespace

bool is_shown(std::string_view code, std::size_t begin, std::size_t end, std::size_t& work) { return Shown(code, work).is_shown(begin, end); }

}  // namespace guard
