// The part of the token reader that reads punctuators.
#include "validator/values/known_names.h"
#include "validator/views/token_reader.h"

namespace guard {

// The token behind `<T>` at the next one, if all of it can be a type and an operand follows; 0 otherwise.
std::uint32_t TokenReader::end_of_cast() const noexcept {
  constexpr std::uint32_t kTypeTokensMax = 64;
  std::uint32_t depth = 0;
  for (std::uint32_t i = at_; i < at_ + kTypeTokensMax && i + 1 < tokens_.size(); ++i) {
    const std::string_view text = text_at(i);
    if (text == "<") {
      ++depth;
    } else if (text == ">") {
      if (--depth > 0) continue;
      const std::string_view next = text_at(i + 1);
      const bool operand =
          tokens_[i + 1].kind != TokenKind::punctuator || next == "(" || next == "[" || next == "{" || next == "<";
      return operand ? i + 1 : 0;
    } else if (!is_word(i) && tokens_[i].kind != TokenKind::string && text != "." && text != "|" && text != "&" &&
        text != "," && text != "[" && text != "]") {
      return 0;
    }
  }
  return 0;
}

void TokenReader::punctuator() {
  const Token& at = tokens_[at_];
  const std::string_view text = text_at(at_);
  Expression& e = now();
  switch (packed_name(text)) {
    case packed_name("."):
    case packed_name("?."):
    case packed_name("..."): dots(text); return;
    case packed_name("!"):
      if (!e.open || at.line_before) {  // x! is x
        put(at);
        e.prefixed = true;
      }
      ++at_;
      return;
    case packed_name("["):
      // A block ends, a line ends, an array begins.
      if (e.open && at.line_before && text_before() == "}") finish(true);
      group('[');
      return;
    case packed_name("{"):
      if (e.open) finish(true);
      group('{');
      return;
    case packed_name("("): group('('); return;
    case packed_name(","): comma(); return;
    case packed_name(":"): colon(); return;
    case packed_name("="): assignment(); return;
    case packed_name("=>"): arrow(); return;
    case packed_name("+"): plus(); return;
    case packed_name("-"):
      if (e.open || e.has_sum) break;
      e.negative = !e.negative;
      put(at);
      ++at_;
      return;
    case packed_name("<"):
      // <T>x is x, and f<T>(x) a call.
      if (const std::uint32_t end = typed_ && (e.open || !e.has_sum) ? end_of_cast() : 0; end != 0) {
        if (!e.open || text_at(end) == "(" || tokens_[end].kind == TokenKind::template_open) {
          at_ = end;
          return;
        }
      }
      break;
    case packed_name(";"):
      finish(true);
      e.target.declaration = false;
      put(at);
      ++at_;
      return;
    default: break;
  }
  general_operator(text);
}

void TokenReader::general_operator(std::string_view text) {
  Expression& e = now();
  if (text == "+=") names_.assign(e.word(), Value{});
  if (text == "??" || text == "||") e.lead = '|';
  if (text == "?" || text == "&&" || text == "||" || text == "??") {
    finish(false, text == "?" || text == "&&");
    e.lead = text == "?" ? '?' : '|';
  } else {
    const bool opaque = !e.target.declared.empty();
    e.opaque = e.opaque || opaque;
    finish(false, true);
    e.opaque = opaque;
    // What operators give is no object; `||=` and its kin hand one on.
    e.lead = text.size() == 3 && text[2] == '=' && text[0] == text[1] && text[0] != '=' ? '=' : ';';
  }
  put(tokens_[at_++]);
}

void TokenReader::dots(std::string_view text) {
  const Token& at = tokens_[at_];
  ++at_;
  if (text == "...") {
    if (now().open) finish(true);
    put(at);
    now().prefixed = true;
    now().lead = '.';
  } else if (is_word(at_)) {
    const Token& name = tokens_[at_];
    const std::string_view member_name = word_at(at_);
    if (name.escaped) writer_.add_escaped_name(name);
    member(member_name, at, name);
    ++at_;
  } else if (text == ".") {
    put(at);
  }
}

void TokenReader::comma() {
  if (frame_->open == '(' || frame_->open == '[') {
    end_argument();
  } else {
    end_property();
  }
  put(tokens_[at_++]);
  now().lead = ',';
  if (now().target.declaration) declarator();
}

// { cmd: words } and { cmd } of a list that was built elsewhere; a literal has told of itself.
void TokenReader::end_property() {
  const bool short_form = (now().lead == '{' || now().lead == ',') && now().word() == "cmd";
  const bool literal = text_before() == "]";
  const Value value = finish(true);
  if (frame_->open != '{' || literal || value.kind != Value::Kind::list) return;
  if (short_form || frame_->key == "cmd")
    writer_.add_words(callee_here(), lists_[value.list], true, tokens_[at_ - 1].begin, tokens_[at_ - 1].end);
}

void TokenReader::colon() {
  Expression& e = now();
  const bool first = e.lead == frame_->open || e.lead == ',';
  if (frame_->open == '{' && first && at_ > 0) {
    const Token& key = tokens_[at_ - 1];
    frame_->key = key.kind == TokenKind::word ? text_before() : std::string_view();
    if (key.kind == TokenKind::string) frame_->key = literal_value(key).text;
    // { ["key"]: value }
    const Value& list = e.operand.value;
    if (text_before() == "]" && list.kind == Value::Kind::list && lists_[list.list].size() == 1 &&
        lists_[list.list][0].is_known_text())
      frame_->key = lists_[list.list][0].text;
  }
  // f(name: Type): a parameter.
  finish(false, frame_->open == '(' && first);
  put(tokens_[at_++]);
  e.lead = ':';
}

void TokenReader::assignment() {
  Expression& e = now();
  Target target;
  target.declared = e.word();
  if (e.open) target.put_back = e.operand.name;
  target.declaration = e.target.declaration;
  target.ambient = e.target.ambient;
  e.target = target;
  e.restart('=');
  put(tokens_[at_++]);
}

void TokenReader::plus() {
  Expression& e = now();
  put(tokens_[at_++]);
  if (!e.open) return;
  Value sum = e.has_sum ? join_values(e.sum, e.operand.value, arena_) : e.operand.value;
  if (sum.begin == 0 && sum.end == 0) sum.begin = e.operand.begin;
  sum.lone = false;
  e.sum = sum;
  e.has_sum = true;
  e.open = false;
}

// What stands before are parameters, what follows is the body.
void TokenReader::arrow() {
  Expression& e = now();
  const Token& at = tokens_[at_];
  const bool single = at_ > 0 && is_word(at_ - 1);
  const std::uint32_t first = single ? at_ - 1 : closed_first_ + 1;
  const std::uint32_t end = single ? at_ : (closed_end_ > 0 ? closed_end_ - 1 : 0);
  const Target target = e.target;
  const char lead = e.lead;
  // import("fs").then(({ rmSync }) => ..)
  if (frame_->call && frame_->open == '(' && (lead == '(' || lead == ',') && first < end) {
    constexpr std::string_view kThen = ".then";
    const std::string_view callee = frame_->outer->now.operand.path;
    if (callee.ends_with(kThen)) {
      const std::string_view path = callee.substr(0, callee.size() - kThen.size());
      if (is_word(first)) {
        add_alias(text_at(first), path, at.begin, at.end);
      } else {
        bind_pattern(first, matching_bracket(first), path, {});
      }
    }
  }
  e.target.declared = {};
  e.target.pattern_end = 0;
  finish(true, true);
  put(at);
  ++at_;
  e.lead = lead == ':' ? ':' : '>';
  if (!target.declared.empty()) {
    names_.assign(target.declared, Value{});
    if (target.declaration && !target.ambient) declare_shadow(target.declared, target.name_token);
  }
  shadow_parameters(at_);
}

}  // namespace guard
