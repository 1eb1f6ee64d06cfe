// How it works. A State is a place in the text, the frames that are open there (templates, substitutions, elements) and
// what kind of token came last; step() is a pure function from a State to a token and the next State. Frames are
// interned, so two States are equal when three numbers are, and a reading that has come back to a known State can be
// dropped: all that follows would be the same.
//
// A doubt is a State with a decision that step() would not have taken itself. The main reading is lexed first; the
// doubts met on the way are followed afterwards, each until it meets the main reading or another alternative, or until
// it is shown to be no JavaScript at all.
//
// What it leaves out: no attempt to find out whether a text is valid. A quote or comment that never closes is an error
// in every engine; here it hides nothing, the sign is skipped and what follows counts as code.
#include "validator/lex/js_lexer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "validator/lex/byte_scan.h"
#include "validator/lex/text_scanner.h"
#include "validator/lex/u64_table.h"

namespace guard {
namespace lexer_detail {

// What came before decides whether `/` divides and whether `<` compares.
enum class Last : std::uint8_t {
  start,          // an operand is due
  operand,        // an operand has just ended
  dot,            // a member name is due
  maybe_operand,  // `)` and its kin: probably an operand has ended
  maybe_start,    // `}` and its kin: probably an operand is due
};

enum class Decision : std::uint8_t { none, regex, divide, element, compare, html_comment, plain };

enum class FrameKind : std::uint8_t {
  root,
  brace,
  template_text,
  substitution,
  open_tag,
  close_tag,
  children,
  expression
};

struct Frame {
  std::uint32_t parent = 0;
  FrameKind kind = FrameKind::root;
};

struct State {
  std::uint32_t at = 0;
  std::uint32_t frame = 0;
  Last last = Last::start;

  bool operator==(const State& other) const noexcept {
    return at == other.at && frame == other.frame && last == other.last;
  }
};

struct Doubt {
  State state;
  Decision decision = Decision::none;
};

}  // namespace lexer_detail

// Allocating these anew took longer than lexing a small file.
struct LexerMemory {
  std::vector<lexer_detail::Frame> frames;
  U64Table frame_ids;
  std::vector<std::uint32_t> main_states;  // behind each main token, packed
  std::vector<lexer_detail::Doubt> doubts;
  std::vector<lexer_detail::State> states;  // behind each token of the alternative that is followed
  U64Table seen;
  std::vector<std::uint32_t>
      first_seen;  // by offset, one more than the frame and last of the first state there; 0: none
};

namespace {

using namespace lexer_detail;

// Frame ids share a 64-bit key with an offset; more frames than this make a text undecidable.
constexpr std::uint32_t kFramesMax = 1U << 24;
constexpr std::uint32_t kContextTokens = 12;

// The first eight bytes of a word as a number, to compare with all keywords at once.
constexpr std::uint64_t packed(std::string_view word) noexcept {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < word.size() && i < 8; ++i) {
    number |= static_cast<std::uint64_t>(static_cast<unsigned char>(word[i])) << (8 * i);
  }
  return number;
}

Last after_word(std::string_view word) noexcept {
  if (word.size() < 2 || word.size() > 10 || word[0] < 'a' || word[0] > 'y') return Last::operand;
  const std::string_view rest = word.substr(std::min<std::size_t>(word.size(), 8));
  switch (packed(word)) {
    case packed("return"):
    case packed("typeof"):
    case packed("in"):
    case packed("new"):
    case packed("delete"):
    case packed("void"):
    case packed("throw"):
    case packed("case"):
    case packed("do"):
    case packed("else"):
    case packed("extends"):
    case packed("default"):
    case packed("if"):
    case packed("while"):
    case packed("for"):
    case packed("export"):
    case packed("import"):
    case packed("const"):
    case packed("var"):
    case packed("switch"): return Last::start;
    case packed("instance"): return rest == "of" ? Last::start : Last::operand;
    // Words that are operators in one place and names in another.
    case packed("await"):
    case packed("yield"):
    case packed("of"):
    case packed("let"):
    case packed("as"):
    case packed("is"):
    case packed("async"):
    case packed("static"):
    case packed("get"):
    case packed("set"):
    case packed("keyof"):
    case packed("infer"):
    case packed("asserts"):
    case packed("type"):
    case packed("declare"):
    case packed("from"): return Last::maybe_start;
    case packed("satisfie"): return rest == "s" ? Last::maybe_start : Last::operand;
    case packed("readonly"):
    case packed("abstract"): return rest.empty() ? Last::maybe_start : Last::operand;
    default: return Last::operand;
  }
}

// One token behind another: step() and the frames that are open.
class TokenSteps {
 public:
  enum class Step : std::uint8_t { token, end, impossible };

  TokenSteps(std::string_view text, Markup markup, LexedText& out)
      : scan_(text),
        markup_(markup == Markup::possible),
        out_(out),
        frames_(out.memory->frames),
        frame_ids_(out.memory->frame_ids) {
    frames_.clear();
    frames_.push_back({});
    frame_ids_.clear();
  }

  TextScanner& scan() noexcept { return scan_; }

  // Reads the token at `state` and moves `state` behind it. `decision` overrules what would be chosen here; what else
  // could be chosen goes to `doubt`.
  Step step(State& state, Decision decision, Token& token, Doubt& doubt, bool is_main) {
    doubt.decision = Decision::none;
    const FrameKind frame = top(state);
    if (frame == FrameKind::template_text) return template_step(state, token);
    if (frame == FrameKind::children) return children_step(state, token);

    const State before = state;
    bool line_before = state.at == 0;
    const std::uint32_t begin = scan_.skip_blanks(state.at, line_before, is_main ? &out_.byte_order_marks : nullptr);
    state.at = begin;
    if (begin >= scan_.size()) return Step::end;
    token = Token{begin, begin + 1, TokenKind::punctuator, line_before, false, false};
    if (frame == FrameKind::open_tag || frame == FrameKind::close_tag) return tag_step(state, token);

    const char c = scan_.text()[begin];
    const Last last = state.last;
    if (scan_.starts_word(begin)) {
      token.kind = TokenKind::word;
      token.end = scan_.word_end(begin, token.escaped, false);
      if (token.end == begin) token.end = begin + 1;
      state.last = last == Last::dot || token.escaped ? Last::operand
                                                      : after_word(scan_.text().substr(begin, token.end - begin));
    } else if (has_class(c, kDigit) || (c == '.' && has_class(scan_.peek(begin + 1), kDigit))) {
      token.kind = TokenKind::number;
      token.end = scan_.number_end(begin);
      state.last = Last::operand;
    } else if (c == '"' || c == '\'') {
      const std::uint32_t end =
          scan_.over_budget() || decision == Decision::plain ? 0 : scan_.string_end(begin, c, true);
      state.last = Last::operand;
      if (end != 0) {
        token.kind = TokenKind::string;
        token.end = end;
        token.escaped = std::memchr(scan_.text().data() + begin, '\\', end - begin) != nullptr;
        state.last = Last::operand;
      }
    } else if (c == '`') {
      state.last = Last::operand;
      if (decision != Decision::plain && !scan_.over_budget()) {
        token.kind = TokenKind::template_open;
        push(state, FrameKind::template_text);
      }
    } else if (c == '/') {
      slash(before, state, token, decision, doubt);
    } else if (c == '<') {
      if (!less_than(before, state, token, decision, doubt)) return Step::impossible;
    } else {
      punctuator(before, state, token, decision, doubt);
    }
    state.at = token.end;
    return Step::token;
  }

 private:
  FrameKind top(const State& state) const noexcept { return frames_[state.frame].kind; }

  void push(State& state, FrameKind kind) {
    const std::uint64_t key = (static_cast<std::uint64_t>(state.frame) << 8) | static_cast<std::uint64_t>(kind);
    if (frames_.size() >= kFramesMax) {
      out_.undecidable = true;
      return;
    }
    const U64Table::Entry entry = frame_ids_.insert(key, static_cast<std::uint32_t>(frames_.size()));
    if (entry.fresh) frames_.push_back({state.frame, kind});
    state.frame = entry.value;
  }
  void pop(State& state) const noexcept { state.frame = frames_[state.frame].parent; }

  void slash(const State& before, State& state, Token& token, Decision decision, Doubt& doubt) {
    const Last last = state.last;
    std::uint32_t end = 0;
    // A type may end before a line end, and then a statement may begin with a regular expression.
    const bool certain_divide = (last == Last::operand || last == Last::dot) && !token.line_before;
    if (decision != Decision::divide && !scan_.over_budget() && (!certain_divide || decision == Decision::regex)) {
      end = scan_.regex_end(token.begin);
    }
    bool regex = end != 0;
    if (regex && decision == Decision::none && last != Last::start) {
      regex = last == Last::maybe_start;
      doubt = {before, regex ? Decision::divide : Decision::regex};
    }
    if (regex) {
      token.kind = TokenKind::regex;
      token.end = end;
      state.last = Last::operand;
    } else {
      if (scan_.peek(token.begin + 1) == '=') token.end = token.begin + 2;
      state.last = Last::start;
    }
  }

  // `<`: a comparison, the type arguments of a call, an element, or the beginning of an HTML comment.
  bool less_than(const State& before, State& state, Token& token, Decision decision, Doubt& doubt) {
    const Last last = state.last;
    if (scan_.text().compare(token.begin, 4, "<!--") == 0) {
      if (decision == Decision::html_comment) {
        token.end = scan_.line_end_after(token.begin);
        token.kind = TokenKind::markup_text;
        state.last = last;
        return true;
      }
      doubt = {before, Decision::html_comment};
    } else if (markup_ && decision != Decision::compare && !scan_.over_budget()) {
      bool ignored = false;
      const std::uint32_t next = scan_.skip_blanks(token.begin + 1, ignored);
      const bool could_open = next < scan_.size() && (scan_.starts_word(next) || scan_.text()[next] == '>');
      const bool certain_compare = last == Last::dot || (last == Last::operand && !token.line_before);
      if (could_open && (!certain_compare || decision == Decision::element)) {
        bool element = true;
        if (decision == Decision::none && (last != Last::start || looks_generic(next))) {
          element = false;
          doubt = {before, Decision::element};
        }
        if (element) {
          push(state, FrameKind::open_tag);
          state.last = Last::start;
          return true;
        }
      } else if (decision == Decision::element) {
        return false;
      }
    }
    if (scan_.peek(token.begin + 1) == '=') token.end = token.begin + 2;
    state.last = Last::start;
    return true;
  }

  // <T,>(…), <T extends U>(…), <T>(…): type parameters in a .tsx file look like a tag.
  bool looks_generic(std::uint32_t at) {
    bool escaped = false;
    bool ignored = false;
    const std::uint32_t end = scan_.word_end(at, escaped, false);
    const std::string_view name = scan_.text().substr(at, end - at);
    std::uint32_t next = scan_.skip_blanks(end, ignored);
    if (name == "const" || scan_.peek(next) == ',' || scan_.text().compare(next, 8, "extends ") == 0) return true;
    if (scan_.peek(next) != '>' || name.empty()) return false;
    next = scan_.skip_blanks(next + 1, ignored);
    return scan_.peek(next) == '(';
  }

  void punctuator(const State& before, State& state, Token& token, Decision decision, Doubt& doubt) {
    const std::uint32_t begin = token.begin;
    const char c = scan_.text()[begin];
    const char d = scan_.peek(begin + 1);
    const char e = scan_.peek(begin + 2);
    std::uint32_t length = 1;
    state.last = Last::start;
    switch (c) {
      case ')': state.last = Last::maybe_operand; break;
      case ']': state.last = Last::operand; break;
      case '{':
        if (state.frame != 0) push(state, FrameKind::brace);
        break;
      case '}':
        state.last = Last::maybe_start;
        close_brace(state, token);
        break;
      case '.':
        if (d == '.' && e == '.') {
          length = 3;
        } else {
          state.last = Last::dot;
        }
        break;
      case '?':
        if (d == '.' && !has_class(e, kDigit)) {
          length = 2;
          state.last = Last::dot;
        } else if (d == '?') {
          length = e == '=' ? 3 : 2;
        }
        break;
      case '!':
        if (d == '=') {
          length = e == '=' ? 3 : 2;
        } else {
          state.last = Last::maybe_start;
        }
        break;
      case '=': length = d == '>' ? 2 : d == '=' ? (e == '=' ? 3 : 2) : 1; break;
      case '>':
        state.last = Last::maybe_start;
        if (d == '=') length = 2;
        break;
      case '-':
        if (d == '-' && e == '>' && token.line_before) {
          if (decision == Decision::html_comment) {
            token.kind = TokenKind::markup_text;
            token.end = scan_.line_end_after(begin);
            state.last = before.last;
            return;
          }
          doubt = {before, Decision::html_comment};
        }
        [[fallthrough]];
      case '+':
        if (d == c) {
          length = 2;
          state.last = Last::maybe_operand;
        } else if (d == '=') {
          length = 2;
        }
        break;
      case '&':
      case '|':
      case '*':
        if (d == c) {
          length = e == '=' ? 3 : 2;
        } else if (d == '=') {
          length = 2;
        }
        break;
      case '%':
      case '^':
        if (d == '=') length = 2;
        break;
      default: break;
    }
    token.end = begin + length;
  }

  void close_brace(State& state, Token& token) const noexcept {
    switch (top(state)) {
      case FrameKind::brace:
      case FrameKind::expression: pop(state); break;
      case FrameKind::substitution:
        pop(state);
        token.kind = TokenKind::substitution_close;
        break;
      default: break;
    }
  }

  Step template_step(State& state, Token& token) {
    const std::uint32_t begin = state.at;
    if (begin >= scan_.size()) return Step::end;
    token = Token{begin, begin + 1, TokenKind::template_close, false, false, false};
    if (scan_.text()[begin] == '`') {
      pop(state);
      state.last = Last::operand;
    } else if (scan_.text()[begin] == '$' && scan_.peek(begin + 1) == '{') {
      token.kind = TokenKind::substitution_open;
      token.end = begin + 2;
      push(state, FrameKind::substitution);
      state.last = Last::start;
    } else {
      std::uint32_t at = begin;
      for (;; ++at) {
        at = static_cast<std::uint32_t>(find_any_of<'`', '$', '\\'>(scan_.text(), at));
        if (at >= scan_.size() || scan_.text()[at] == '`' || (scan_.text()[at] == '$' && scan_.peek(at + 1) == '{'))
          break;
        if (scan_.text()[at] == '\\') {
          token.escaped = true;
          ++at;
        }
      }
      token.kind = TokenKind::template_text;
      token.end = std::min(at, scan_.size());
    }
    state.at = token.end;
    return Step::token;
  }

  Step children_step(State& state, Token& token) {
    const std::uint32_t begin = state.at;
    if (begin >= scan_.size()) return Step::end;
    token = Token{begin, begin + 1, TokenKind::punctuator, false, false, false};
    state.last = Last::start;
    if (scan_.text()[begin] == '{') {
      push(state, FrameKind::expression);
    } else if (scan_.text()[begin] == '<') {
      bool ignored = false;
      const std::uint32_t next = scan_.skip_blanks(begin + 1, ignored);
      push(state, scan_.peek(next) == '/' ? FrameKind::close_tag : FrameKind::open_tag);
    } else {
      const std::size_t end = scan_.text().find_first_of("{<", begin);
      token.kind = TokenKind::markup_text;
      token.end = end == std::string_view::npos ? scan_.size() : static_cast<std::uint32_t>(end);
    }
    state.at = token.end;
    return Step::token;
  }

  // Inside a tag there are names, attributes, expressions in braces, type arguments and comments, nothing else.
  Step tag_step(State& state, Token& token) {
    const std::uint32_t begin = token.begin;
    const char c = scan_.text()[begin];
    Step result = Step::token;
    if (scan_.starts_word(begin)) {
      token.kind = TokenKind::word;
      token.end = std::max(begin + 1, scan_.word_end(begin, token.escaped, true));
      state.last = Last::operand;
    } else if (c == '"' || c == '\'') {
      const std::uint32_t end = scan_.over_budget() ? 0 : scan_.string_end(begin, c, false);
      if (end != 0) {
        token.kind = TokenKind::string;
        token.markup = true;
        token.end = end;
      }
      state.last = Last::operand;
    } else if (c == '{') {
      push(state, FrameKind::expression);
      state.last = Last::start;
    } else if (c == '<') {
      push(state, FrameKind::open_tag);
      state.last = Last::start;
    } else if (c == '>') {
      end_tag(state);
    } else if (c == '/' && top(state) == FrameKind::open_tag) {
      bool ignored = false;
      const std::uint32_t next = scan_.skip_blanks(begin + 1, ignored);
      if (scan_.peek(next) == '>') {
        token.end = next + 1;
        pop(state);
        state.last = Last::maybe_operand;
      } else {
        result = Step::impossible;
      }
    } else if (c == '=' || c == ':' || c == '.' || c == '/') {
      state.last = Last::start;
    } else {
      result = Step::impossible;
    }
    state.at = token.end;
    return result;
  }

  void end_tag(State& state) {
    const bool opens = top(state) == FrameKind::open_tag;
    pop(state);
    if (opens) {
      push(state, FrameKind::children);
    } else if (top(state) == FrameKind::children) {
      pop(state);
    }
    state.last = Last::maybe_operand;
  }

  TextScanner scan_;
  bool markup_;
  LexedText& out_;
  std::vector<Frame>& frames_;
  U64Table& frame_ids_;
};

// The readings of a text: the main one, then those that the doubts met on the way lead to.
class Lexer {
 public:
  Lexer(std::string_view text, Markup markup, LexedText& out)
      : steps_(text, markup, out), out_(out), memory_(*out.memory) {
    main_states_.clear();
    doubts_.clear();
    memory_.seen.clear();
    memory_.first_seen.clear();
  }

  void run() {
    lex_main();
    follow_doubts();
    out_.steps = scan().size() + scan().wasted();
  }

 private:
  TextScanner& scan() noexcept { return steps_.scan(); }

  void lex_main() {
    State state;
    Token token;
    Doubt doubt;
    std::size_t last_at_root = 0;  // tokens up to here stand outside every frame
    bool element_refuted = false;  // the element that is open can't be one
    if (scan().text().substr(0, 3) == "\xef\xbb\xbf") state.at = 3;
    for (;;) {
      if (state.frame == 0) {
        last_at_root = out_.tokens.size();
        element_refuted = false;
      }
      const TokenSteps::Step result = steps_.step(state, Decision::none, token, doubt, true);
      if (result == TokenSteps::Step::end) break;
      // The main reading never gives up; what else the refuted element may be is followed as a doubt.
      if (result == TokenSteps::Step::impossible && !element_refuted) {
        element_refuted = true;
        doubt_opening(last_at_root, Decision::compare);
      }
      out_.tokens.push_back(token);
      main_states_.push_back(packed_state(state));
      if (doubt.decision != Decision::none) doubts_.push_back(doubt);
    }
    if (state.frame != 0) {
      doubt_opening(last_at_root,
          last_at_root < out_.tokens.size() && out_.tokens[last_at_root].kind == TokenKind::template_open
              ? Decision::plain
              : Decision::compare);
    }
  }

  // The token at `index` opened something that never closes, or that can't be what it was taken for.
  void doubt_opening(std::size_t index, Decision decision) {
    if (index >= out_.tokens.size()) return;
    State state;
    if (index > 0) state = main_state(index - 1);
    doubts_.push_back({state, decision});
  }

  // A state without its place: behind a token that is the token's end.
  static std::uint32_t packed_state(const State& state) noexcept {
    return (state.frame << 3) | static_cast<std::uint32_t>(state.last);
  }
  State main_state(std::size_t index) const noexcept {
    const std::uint32_t packed_last = main_states_[index];
    return {out_.tokens[index].end, packed_last >> 3, static_cast<Last>(packed_last & 7U)};
  }

  static std::uint64_t key_of(const State& state, Decision decision) noexcept {
    return (static_cast<std::uint64_t>(state.at) << 32) | (static_cast<std::uint64_t>(state.frame) << 8) |
        (static_cast<std::uint64_t>(state.last) << 4) | static_cast<std::uint64_t>(decision);
  }

  // Most places are reached in one state alone, and a list by offset is kinder to the cache than a hash table.
  bool is_new(const State& state) {
    const std::uint32_t what = packed_state(state) + 1;
    std::uint32_t& first = memory_.first_seen[std::min(state.at, scan().size())];
    if (first == 0) {
      first = what;
      return true;
    }
    return first != what && memory_.seen.insert(key_of(state, Decision::none)).fresh;
  }

  void follow_doubts() {
    if (!doubts_.empty()) memory_.first_seen.resize(static_cast<std::size_t>(scan().size()) + 1);
    while (!doubts_.empty()) {
      const Doubt doubt = doubts_.back();
      doubts_.pop_back();
      if (scan().over_budget()) {
        out_.undecidable = true;
        break;
      }
      if (memory_.seen.insert(key_of(doubt.state, doubt.decision)).fresh) follow(doubt);
    }
    if (scan().over_budget()) out_.undecidable = true;
  }

  void follow(const Doubt& start) {
    State state = start.state;
    Decision decision = start.decision;
    const std::size_t first = out_.alternative_tokens.size();
    // First main token that ends behind the doubt.
    std::size_t main =
        static_cast<std::size_t>(std::upper_bound(out_.tokens.begin(), out_.tokens.end(), state.at,
                                     [](std::uint32_t at, const Token& other) { return at < other.end; }) -
            out_.tokens.begin());
    for (std::size_t i = main > kContextTokens ? main - kContextTokens : 0; i < main; ++i) {
      out_.alternative_tokens.push_back(out_.tokens[i]);
    }
    const std::size_t begun = out_.alternative_tokens.size();
    std::size_t own_root = begun;
    std::size_t certain = first;  // tokens before the last doubt of this reading's own: they may stand in another one
    std::vector<State>& states = memory_.states;
    states.clear();
    Token token;
    Doubt doubt;
    for (;;) {
      if (state.frame == 0) own_root = out_.alternative_tokens.size();
      const std::uint32_t before = state.at;
      const TokenSteps::Step result = steps_.step(state, decision, token, doubt, false);
      decision = Decision::none;
      scan().waste(state.at - before + 1);
      if (result == TokenSteps::Step::impossible) {
        out_.alternative_tokens.resize(certain);
        if (certain == first) return;
        break;
      }
      if (result == TokenSteps::Step::end) {
        if (state.frame != 0 && own_root > begun) reopen(begun, own_root, states, start);
        break;
      }
      if (scan().over_budget()) break;
      if (doubt.decision != Decision::none) {
        doubts_.push_back(doubt);
        certain = out_.alternative_tokens.size();
      }
      out_.alternative_tokens.push_back(token);
      states.push_back(state);
      while (main < main_states_.size() && out_.tokens[main].end < state.at) ++main;
      if (main < main_states_.size() && main_state(main) == state) {
        const std::size_t stop = std::min(out_.tokens.size(), main + 1 + kContextTokens);
        for (std::size_t i = main + 1; i < stop; ++i) out_.alternative_tokens.push_back(out_.tokens[i]);
        break;
      }
      if (!is_new(state)) break;
    }
    out_.alternatives.push_back(
        {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(out_.alternative_tokens.size() - first)});
  }

  void reopen(std::size_t begun, std::size_t own_root, const std::vector<State>& states, const Doubt& start) {
    const std::size_t index = own_root - begun;
    if (index >= states.size()) return;
    const bool is_template = out_.alternative_tokens[own_root].kind == TokenKind::template_open;
    doubts_.push_back({index > 0 ? states[index - 1] : start.state, is_template ? Decision::plain : Decision::compare});
  }

  TokenSteps steps_;
  LexedText& out_;
  LexerMemory& memory_;
  std::vector<std::uint32_t>& main_states_ = memory_.main_states;
  std::vector<Doubt>& doubts_ = memory_.doubts;
};

}  // namespace

std::size_t blank_length(std::string_view text, std::size_t at, bool& line_end) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned c = byte(at);
  if (c < 0x80) {
    if (at >= text.size() || !has_class(static_cast<char>(c), kBlank)) return 0;
    line_end = c == '\n' || c == '\r';
    return 1;
  }
  if (c == 0xc2) return byte(at + 1) == 0xa0 ? 2 : 0;  // U+00A0
  const unsigned d = byte(at + 1);
  const unsigned e = byte(at + 2);
  if (c == 0xe2 && d == 0x80) {
    line_end = e == 0xa8 || e == 0xa9;
    return line_end || (e >= 0x80 && e <= 0x8a) || e == 0xaf ? 3 : 0;  // U+2028/9, U+2000..200A, U+202F
  }
  const bool other = (c == 0xe1 && d == 0x9a && e == 0x80) ||  // U+1680
      (c == 0xe2 && d == 0x81 && e == 0x9f) ||                 // U+205F
      (c == 0xe3 && d == 0x80 && e == 0x80) ||                 // U+3000
      (c == 0xef && d == 0xbb && e == 0xbf);                   // U+FEFF
  return other ? 3 : 0;
}

Markup markup_of(std::string_view path) noexcept {
  for (const std::string_view plain : {".ts", ".mts", ".cts"}) {
    if (path.size() >= plain.size() && path.substr(path.size() - plain.size()) == plain) return Markup::no;
  }
  return Markup::possible;
}

LexedText::LexedText() : memory(std::make_unique<LexerMemory>()) {}
LexedText::~LexedText() = default;
LexedText::LexedText(LexedText&&) noexcept = default;
LexedText& LexedText::operator=(LexedText&&) noexcept = default;

void LexedText::clear() {
  tokens.clear();
  alternative_tokens.clear();
  alternatives.clear();
  byte_order_marks.clear();
  undecidable = false;
  steps = 0;
}

void lex(std::string_view text, Markup markup, LexedText& out) {
  out.clear();
  Lexer(text, markup, out).run();
  out.steps = std::max<std::uint64_t>(out.steps, text.size());
  // What reads the tokens of a large text needs as much again.
  if (text.size() > kMemoryKeptFor) {
    out.memory = std::make_unique<LexerMemory>();
    out.tokens.shrink_to_fit();
  }
}

}  // namespace guard
