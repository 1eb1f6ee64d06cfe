// The part of the view builder that reads punctuators, and steps over types.
#include "validator/views/view_builder.h"

#include "validator/values/known_names.h"
#include "validator/views/view_text.h"

namespace guard {

// The token behind `<T>` at `index`, if all of it can be a type and an operand follows; 0 otherwise.
std::uint32_t ViewBuilder::end_of_cast(std::uint32_t index) const noexcept {
  constexpr std::uint32_t kTypeTokensMax = 64;
  std::uint32_t depth = 0;
  for (std::uint32_t i = index; i < index + kTypeTokensMax && i + 1 < tokens_.size(); ++i) {
    const std::string_view text = source_of(tokens_[i]);
    if (text == "<") {
      ++depth;
    } else if (text == ">") {
      if (--depth > 0) continue;
      const Token& next = tokens_[i + 1];
      const std::string_view next_text = source_of(next);
      const bool operand = next.kind != TokenKind::punctuator || next_text == "(" || next_text == "[" ||
          next_text == "{" || next_text == "<";
      return operand ? i + 1 : 0;
    } else if (tokens_[i].kind != TokenKind::word && tokens_[i].kind != TokenKind::string && text != "." &&
        text != "|" && text != "&" && text != "," && text != "[" && text != "]") {
      return 0;
    }
  }
  return 0;
}

// The token behind `new (..) => T` or `(..) => T` at `index`, 0 if there is no such type.
std::uint32_t ViewBuilder::end_of_function_type(std::uint32_t index) const noexcept {
  const auto text = [&](std::uint32_t i) { return i < tokens_.size() ? source_of(tokens_[i]) : std::string_view(); };
  bool any = false;
  for (int depth = 0; depth < 8; ++depth) {
    std::uint32_t i = index;
    if (text(i) == "abstract") ++i;
    if (text(i) == "new") ++i;
    if (text(i) != "(") break;
    const std::uint32_t close = matching_bracket(i);
    if (close == 0 || text(close + 1) != "=>") break;
    index = close + 2;
    any = true;
  }
  return any && index < tokens_.size() && tokens_[index].kind == TokenKind::word ? index : 0;
}

// const { .. } and const [ .. ] at index
void ViewBuilder::begin_pattern(std::uint32_t index) {
  now_->declares = false;
  now_->pattern_end = matching_bracket(index);
  now_->pattern_first = now_->pattern_end == 0 ? 0 : index;
  now_->annotated = true;
}

void ViewBuilder::punctuator(std::uint32_t index) {
  const Token& at = tokens_[index];
  const std::string_view text = source_of(at);
  const std::uint64_t code = packed_name(text);
  if (now_->in_type) {
    const char c = text.front();
    if (c == '<') ++now_->angles;
    if (c == '>' && now_->angles > 0) {
      --now_->angles;
      put(text, at);
      return;
    }
    const bool goes_on = now_->angles > 0
        ? code != packed_name(")") && code != packed_name(";") && code != packed_name("}") && code != packed_name("]")
        : c == '.' || c == '|' || c == '<' || (c == '&' && text.size() == 1) || (c == '|' && text.size() == 1);
    if (goes_on && code != packed_name("(") && code != packed_name("[") && code != packed_name("{") &&
        code != packed_name(")") && code != packed_name("]") && code != packed_name("}")) {
      put(text, at);
      return;
    }
    if (code != packed_name("(") && code != packed_name("[") && code != packed_name("{")) now_->in_type = false;
  }
  switch (text.front()) {
    case '.':
    case '?':
      if (code == packed_name(".") || code == packed_name("?.")) {
        const bool to_name = index + 1 < tokens_.size() && tokens_[index + 1].kind == TokenKind::word;
        if (code == packed_name(".") || to_name) put(".", at);
        now_->after_dot = to_name;
        return;
      }
      if (code == packed_name("...")) {
        if (now_->open) finish(true);
        put(text, at);
        now_->prefixed = true;
        now_->lead = '.';
        return;
      }
      now_->compared = code == packed_name("?");
      if (code == packed_name("??")) now_->lead = '|';
      finish(false);
      put(text, at);
      now_->lead = code == packed_name("??") ? '|' : '?';
      return;
    case '!':
      if (code == packed_name("!")) {
        if (now_->open && !at.line_before) return;  // x! is x
        put(text, at);
        now_->prefixed = true;
        return;
      }
      break;
    case '(': open_group('(', index); return;
    case '[':
      if (now_->declares) {
        begin_pattern(index);
        open_group('[', index);
        return;
      }
      // A block ends, a line ends, an array begins.
      if (now_->open && at.line_before && !code_.text().empty() && code_.text().back() == '}') finish(true);
      open_group('[', index);
      return;
    case '{': {
      if (now_->declares) {
        begin_pattern(index);
      } else if (now_->open && !now_->in_type) {
        finish(true);
      }
      open_group('{', index);
      return;
    }
    case ')': close_group('(', index); return;
    case ']': close_group('[', index); return;
    case '}': close_group('{', index); return;
    case ',': {
      const bool in_list = !groups_.empty() && (groups_.back().open == '(' || groups_.back().open == '[');
      const bool declaration = now_->declaration && !in_list;
      if (in_list) {
        Group& group = groups_.back();
        if (group.first_arg_end == 0) group.first_arg_end = now_->type_begin != 0 ? now_->type_begin : code_.size();
        end_argument();
      } else {
        finish(true);
      }
      put(text, at);
      now_->declares = declaration;
      now_->lead = ',';
      return;
    }
    case ';':
      finish(true);
      now_->declaration = false;
      put(text, at);
      return;
    case ':':
      if (!groups_.empty() && groups_.back().open == '{' && index > 0 && (now_->lead == '{' || now_->lead == ',')) {
        const Token& key = tokens_[index - 1];
        groups_.back().key = key.kind == TokenKind::word ? source_of(key) : std::string_view();
        if (key.kind == TokenKind::string) groups_.back().key = literal_value(key).text;
        // { ["key"]: value }
        if (now_->operand.kind == Value::Kind::list && lists_[now_->operand.list].size() == 1 &&
            lists_[now_->operand.list][0].is_known_text() && is_char(source_of(key), ']')) {
          groups_.back().key = lists_[now_->operand.list][0].text;
        }
      }
      // f(name: Type): a parameter.
      if ((now_->lead == '(' || now_->lead == ',') && !groups_.empty() && groups_.back().open == '(')
        now_->compared = true;
      if (now_->annotated && now_->open) {
        put(text, at);
        now_->in_type = true;
        now_->angles = 0;
        return;
      }
      finish(false);
      put(text, at);
      now_->lead = ':';
      return;
    case '=':
      if (code == packed_name("=")) {
        const bool declaration = now_->declaration;
        const bool ambient = now_->ambient;
        const bool pattern = now_->annotated && now_->pattern_end != 0;
        const std::string_view declared = now_->annotated ? now_->declared : now_->word;
        const std::uint32_t pattern_first = now_->pattern_first;
        const std::uint32_t pattern_end = now_->pattern_end;
        const std::uint32_t name_token = now_->name_token;
        std::string_view target;
        if (!now_->annotated && code_.size() > now_->operand_begin && code_.size() - now_->operand_begin < 64) {
          target = arena_.copy(std::string_view(code_.text()).substr(now_->operand_begin));
        }
        put(text, at);
        now_->reset('=');
        now_->declaration = declaration;
        now_->ambient = ambient;
        now_->name_token = name_token;
        now_->target = target;
        if (pattern) {
          now_->pattern_first = pattern_first;
          now_->pattern_end = pattern_end;
        } else {
          now_->declared = declared;
        }
        return;
      }
      break;
    case '+':
      if (code == packed_name("+")) {
        put(text, at);
        if (!now_->open) return;
        const Value sum = now_->has_sum ? join_values(now_->sum, now_->operand, arena_) : now_->operand;
        now_->sum = sum;
        if (now_->sum.begin == 0 && now_->sum.end == 0) now_->sum.begin = now_->source_begin;
        now_->sum.lone = false;
        now_->has_sum = true;
        now_->open = false;
        now_->operand = Value{};
        now_->method = {};
        now_->type_begin = 0;
        return;
      }
      if (code == packed_name("+=")) names_.assign(now_->word, Value{});
      break;
    case '&':
    case '|':
      if (text.size() == 2 && text[0] == text[1]) {
        now_->compared = text[0] == '&';
        if (text[0] == '|') now_->lead = '|';
        finish(false);
        put(text, at);
        now_->lead = '|';
        return;
      }
      break;
    case '<':
      // <T>x is x.
      if (code == packed_name("<") && !now_->open && !now_->has_sum) {
        if (const std::uint32_t end = typed_ ? end_of_cast(index) : 0; end != 0) {
          skip_until_ = end;
          return;
        }
      }
      // f<T>(x)
      if (code == packed_name("<") && now_->open && typed_) {
        const std::uint32_t end = end_of_cast(index);
        const bool call =
            end != 0 && (is_char(source_of(tokens_[end]), '(') || tokens_[end].kind == TokenKind::template_open);
        if (call) {
          skip_until_ = end;
          return;
        }
      }
      // f<T>(x): type arguments; a comparison has no value either.
      break;
    default: break;
  }
  if (code == packed_name("=>")) {
    arrow(index);
    return;
  }
  if (code == packed_name("-") && !now_->open && !now_->has_sum) {
    put(text, at);
    now_->negative = !now_->negative;
    return;
  }
  if (!now_->declared.empty()) now_->opaque = true;
  const bool opaque = now_->opaque;
  now_->compared = true;
  finish(false);
  now_->opaque = opaque && !now_->declared.empty();
  // What operators give is no object; `||=` and its kin hand one on.
  now_->lead = text.size() > 2 && text.back() == '=' && text[0] == text[1] && text[0] != '=' ? '=' : ';';
  put(text, at);
}

}  // namespace guard
