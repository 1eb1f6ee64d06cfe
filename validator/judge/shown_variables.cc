#include "validator/judge/shown_variables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <vector>

#include "rules/surface.h"
#include "validator/values/known_names.h"

namespace guard {
namespace {

constexpr std::size_t kNamesMax = 64;
constexpr std::size_t kPlacesMax = 2'000;
constexpr std::size_t kNowhere = CodeText::kNowhere;

// What gives back, in one form or another, what it is given.

constexpr std::array<std::string_view, 3> kFakes = {"=mock(", "=jest.fn(", "=vi.fn("};

bool is_chain_byte(char c) { return is_word_byte(c) || c == '.'; }

std::string_view last_part(std::string_view chain) {
  return chain.substr(chain.rfind('.') == kNowhere ? 0 : chain.rfind('.') + 1);
}
std::string_view first_part(std::string_view chain) { return chain.substr(0, chain.find('.')); }

// The way of one value.
class Way {
 public:
  Way(const CodeText& code, const std::set<std::string_view>& fakes, std::size_t& work)
      : code_(code), fakes_(fakes), work_(work) {}

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
  std::string_view ahead_of(std::size_t i) const { return code_.ahead_of(i); }

  bool is_reduced(std::size_t end) const {
    const std::string_view rest = code_.behind(end);
    return is_asked(rest) || rest.starts_with("&&") || rest.starts_with(".length") || rest.starts_with('>') ||
        rest.starts_with('<');
  }

  // Where the bracket opens that closes at `close`; 0 in a torn text.
  std::size_t opening(std::size_t close) const {
    const std::size_t open = code_.partner(close);
    return open == kNowhere ? 0 : open;
  }
  // Behind the bracket that opens at `open` and all that it holds.
  std::size_t behind(std::size_t open) const {
    const std::size_t close = code_.partner(open);
    return close == kNowhere ? code_.text().size() : close + 1;
  }

  std::string_view chain_before(std::size_t i) {
    const std::string_view chain = code_.chain_before(i);
    spend(chain.size());
    return chain;
  }
  // Where a function begins whose arrow stands at `arrow`.
  std::size_t begin_of_arrow(std::size_t arrow) {
    std::size_t i =
        arrow > 0 && code_.at(arrow - 1) == ')' ? opening(arrow - 1) : arrow - last_part(chain_before(arrow)).size();
    return ahead_of(i).ends_with("async ") ? i - 6 : i;
  }
  bool opens_block(std::size_t brace) const { return code_.kind_of(brace) != CodeText::Brace::other; }

  void add_name(std::string_view name, std::string_view key, bool member) {
    if (!is_identifier(name) || names_.size() >= kNamesMax || !names_.emplace(name, member).second) return;
    for (const std::size_t i : code_.places_of(name)) {
      spend(1);
      std::size_t end = i + name.size();
      const char before = i == 0 ? ';' : code_.at(i - 1);
      if ((before == '.') != member) continue;
      const bool given = code_.at(end) == '=' && code_.at(end + 1) != '=' && code_.at(end + 1) != '>';
      if (given || (code_.at(end) == ':' && (before == '{' || before == ',')) || ahead_of(i).ends_with("function ") ||
          ahead_of(i).ends_with("function*"))
        continue;
      // Another member than the one that holds it.
      if (!key.empty() && code_.at(end) == '.') {
        std::size_t part = end + 1;
        while (is_word_byte(code_.at(part))) ++part;
        if (code_.text().substr(end + 1, part - end - 1) != key && code_.at(part) != '(') continue;
      }
      while (is_chain_byte(code_.at(end))) ++end;
      while (end > i + name.size() && code_.at(end - 1) == '.') --end;
      places_.push_back({i - chain_before(i).size(), end});
    }
  }

  // Follows the value at a place outwards. True where it is shown.
  bool reaches(Place place) {
    if (is_reduced(place.end)) return false;
    std::size_t i = place.begin;
    const std::string_view ahead = ahead_of(i);
    if (ahead.ends_with('!') || ahead.ends_with("typeof ") || ahead.ends_with("delete ")) return false;
    bool sibling = false;             // behind a comma: what is given a value there is another one
    std::string_view key;             // the outermost member of the object that it lies in
    std::size_t function = kNowhere;  // where the last function begins that returns it
    while (i > 0) {
      if (work_ == 0) return true;
      const char byte = code_.at(--i);
      spend(1);
      if (is_closing(byte)) {
        i = opening(i);
      } else if (is_opening(byte)) {
        if (byte == '(') {
          const std::string_view chain = chain_before(i);
          const std::string_view last = last_part(chain);
          if (!chain.empty()) {
            if (is_word_of("asks_only", last)) return false;
            if (last == "expect") {  // where it says nothing but whether it is there
              const std::string_view rest = code_.text().substr(behind(i));
              if (rest.starts_with(".toBeDefined") || rest.starts_with(".toBeT")) return false;
              // What a function returns that only has to throw, or not to.
              if (i + 1 == function && (rest.starts_with(".toThrow") || rest.starts_with(".not.toThrow"))) return false;
            }
            if (shows(chain, last, sibling)) return true;
            if (last == "function" || last.empty()) return false;
            const bool makes = ahead_of(i - chain.size()).ends_with("new ");
            if (makes ? !is_word_of("holds_value", last) : !is_word_of("gives_back", last)) {
              if (fakes_.count(last) != 0) add_name(last, {}, false);
              return false;
            }
            if (!makes && is_word_of("fills_container", last) && chain.find('.') != kNowhere)
              add_name(first_part(chain), {}, false);
            i -= chain.size() + (makes ? 4 : 0);
          }
        } else if (byte == '[') {
          if (i > 0 && (is_word_byte(code_.at(i - 1)) || code_.at(i - 1) == ')' || code_.at(i - 1) == ']'))
            return false;
        } else if (i > 0 && code_.at(i - 1) == '$') {
          i = code_.backtick_before(i - 1);
          if (i == kNowhere) return false;
        } else if (opens_block(i)) {
          return statement(i + 1);
        }
        sibling = false;
      } else if (byte == ';' || byte == '\n') {
        return statement(i + 1);
      } else if (byte == ',') {
        sibling = true;
      } else if (byte == ':' && !sibling) {
        const std::string_view word = last_part(chain_before(i));
        if (!word.empty()) key = word;
      } else if (byte == '>' && i > 0 && code_.at(i - 1) == '=') {
        i = function = begin_of_arrow(i - 1);
        sibling = false;
      } else if (byte == '=' && !sibling) {
        if (code_.at(i + 1) == '=' || (i > 0 && std::string_view("=!<>").find(code_.at(i - 1)) != kNowhere))
          return false;
        give(i, key);
        return false;
      }
    }
    return statement(0);
  }

  // A statement that begins at `begin`.
  bool statement(std::size_t begin) {
    const std::string_view text = code_.text().substr(begin);
    if (text.starts_with("throw")) return true;
    if (!text.starts_with("return") && !text.starts_with("yield")) return false;
    // Of a function: what it is called as gives the value back.
    for (std::size_t brace = code_.enclosing(begin); brace != kNowhere && brace > 0; brace = code_.enclosing(brace)) {
      spend(1);
      if (code_.at(brace) != '{') return false;
      if (ahead_of(brace).ends_with("=>")) {
        places_.push_back({begin_of_arrow(brace - 2), behind(brace)});
        return false;
      }
      const std::size_t parameters = code_.parameters_end(brace);
      const std::string_view name = last_part(chain_before(parameters == kNowhere ? brace : opening(parameters)));
      if (is_branch(name) || (parameters == kNowhere && opens_block(brace))) continue;
      add_name(name, {}, false);
      add_name(name, {}, true);
      return false;
    }
    return false;
  }

  // What stands before the `=` at `sign` is given the value.
  void give(std::size_t sign, std::string_view key) {
    std::size_t end = sign;
    while (end > 0 && std::string_view("+?|&").find(code_.at(end - 1)) != kNowhere) --end;
    if (end > 0 && (code_.at(end - 1) == ']' || code_.at(end - 1) == '}')) {
      for (std::size_t i = opening(end - 1); i < end; ++i) {
        std::size_t stop = i;
        while (stop < end && is_word_byte(code_.at(stop))) ++stop;
        if (stop > i) add_name(code_.text().substr(i, stop - i), {}, false);
        spend(stop - i + 1);
        i = std::max(i, stop);
      }
      return;
    }
    std::string_view target = chain_before(end);
    // Behind a type: let a:string=
    std::size_t before = end - target.size();
    if (before > 0 && code_.at(before - 1) == ':') target = chain_before(before - 1);
    before = static_cast<std::size_t>(target.data() - code_.text().data());
    const std::string_view name = last_part(target);
    const char ahead = before == 0 ? ';' : code_.at(before - 1);
    const bool member = target.find('.') != kNowhere;
    if (!member) add_name(name, key, false);
    // A field of a class.
    if (member || ahead == '{' || ahead == ';' || ahead == '}' || ahead == '\n') add_name(name, key, true);
  }

  bool shows(std::string_view chain, std::string_view last, bool sibling) const {
    if (last == "expect" || chain == "expect.soft" || chain.starts_with("assert") || chain.starts_with("console.") ||
        is_word_of("fails_with", last))
      return true;
    if (last.size() > 2 && last.starts_with("to") && std::isupper(static_cast<unsigned char>(last[2])) != 0 &&
        chain.starts_with('.'))
      return true;
    static constexpr std::array<std::string_view, 6> kCompares = {
        "equal", "strictEqual", "notStrictEqual", "deepEqual", "deepStrictEqual", "notDeepEqual"};
    if (is_one_of(kCompares, last)) return true;
    return !sibling && (is_word_of("has_title", first_part(chain)) || last == "each");
  }

  const CodeText& code_;
  const std::set<std::string_view>& fakes_;
  std::vector<Place> places_;
  std::set<std::pair<std::string_view, bool>> names_;
  std::size_t& work_;
};

}  // namespace

ShownVariables::ShownVariables(const CodeText& code, std::size_t work) : code_(code), work_(work) {
  for (const std::string_view name : code.names()) {
    const std::string_view rest = code.behind(code.place_of(name) + name.size());
    if (std::any_of(kFakes.begin(), kFakes.end(), [&](std::string_view fake) { return rest.starts_with(fake); }))
      fakes_.insert(name);
  }
}

bool ShownVariables::contain(std::size_t begin, std::size_t end) {
  return Way(code_, fakes_, work_).is_shown(begin, end);
}

}  // namespace guard
