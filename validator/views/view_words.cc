// The part of the view builder that reads words: keywords, members, names, literals and import clauses.
#include "validator/views/view_builder.h"

#include <algorithm>
#include <functional>
#include <string>

#include "validator/values/known_names.h"
#include "validator/views/view_text.h"

namespace guard {
namespace {

enum class Word : std::uint8_t { name, prefix, operator_word, declaration, type, skipped, import_word, statement };

Word kind_of(std::string_view name) noexcept {
  if (name.size() < 2 || name.size() > 10 || name[0] < 'a' || name[0] > 'y') return Word::name;
  switch (packed_name(name)) {
    case packed_name("return"):
    case packed_name("in"):
    case packed_name("of"):
    case packed_name("case"):
    case packed_name("do"):
    case packed_name("else"):
    case packed_name("yield"):
    case packed_name("throw"):
    case packed_name("extends"): return Word::operator_word;
    case packed_name("if"):
    case packed_name("while"):
    case packed_name("for"):
    case packed_name("switch"):
    case packed_name("catch"):
    case packed_name("export"):
    case packed_name("default"):
    case packed_name("function"):
    case packed_name("class"):
    case packed_name("try"):
    case packed_name("with"):
    case packed_name("finally"): return Word::statement;
    case packed_name("new"):
    case packed_name("typeof"):
    case packed_name("void"):
    case packed_name("delete"): return Word::prefix;
    case packed_name("await"): return Word::skipped;
    case packed_name("const"):
    case packed_name("let"):
    case packed_name("var"): return Word::declaration;
    case packed_name("as"): return Word::type;
    case packed_name("import"): return Word::import_word;
    default: break;
  }
  if (name == "instanceof") return Word::operator_word;
  return name == "satisfies" ? Word::type : Word::name;
}

bool is_test_module(std::string_view specifier) noexcept {
  return specifier == "bun:test" || specifier == "vitest" || specifier == "@jest/globals" || specifier == "node:test" ||
      specifier == "node:assert" || specifier == "node:assert/strict" || specifier == "assert" || specifier == "chai";
}

}  // namespace

void ViewBuilder::word(std::uint32_t index) {
  const Token& at = tokens_[index];
  std::string_view name_text = source_of(at);
  if (at.escaped) {
    const std::string decoded = decode_identifier(name_text);
    // Nobody writes an ASCII letter as \u0065 by accident.
    if (std::all_of(decoded.begin(), decoded.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
      out_.escaped_names.push_back(origin_ ? *origin_ : TextSpan{at.begin, at.end});
    }
    name_text = arena_.copy(decoded);
  }
  if (now_->after_dot) {
    member(name_text, at);
    return;
  }
  if (now_->in_type) {
    const std::string_view before = index > 0 ? source_of(tokens_[index - 1]) : std::string_view();
    if (!at.line_before || now_->angles > 0 || before == "as" || before == "satisfies") {
      // `x as any < 2, process` may also compare.
      const bool root =
          name_text == "process" || name_text == "Bun" || name_text == "globalThis" || name_text == "eval";
      if (root && now_->angles > 0 && before != "typeof" && before != ".")
        add_use("value", name_text, "<", at.begin, at.end);
      put(name_text, at);
      return;
    }
    finish(true);
  }
  if (!at.escaped && keyword(name_text, index)) return;
  name(name_text, index);
}

bool ViewBuilder::keyword(std::string_view text, std::uint32_t index) {
  const Token& at = tokens_[index];
  switch (kind_of(text)) {
    case Word::name: return false;
    case Word::prefix:
      if (now_->open) finish(true);
      put(text, at);
      now_->prefixed = now_->prefixed || text != "new";
      now_->made = now_->made || text == "new";
      return true;
    case Word::operator_word:
      // `of` and friends are names too.
      if (text == "of" && !now_->open) return false;
      now_->opaque = true;
      now_->compared = text == "in" || text == "of";
      if (text == "instanceof" && now_->lead != '.') now_->lead = 'i';  // X[Symbol.hasInstance] is handed the operand
      if (text == "of" && now_->pattern_end != 0) bind_pattern(now_->pattern_first, now_->pattern_end, {}, {});
      finish(text != "in" && text != "instanceof");
      put(text, at);
      now_->prefixed = false;
      now_->lead = text == "return" || text == "throw" || text == "yield"
          ? 'r'
          : (text == "of" || text == "extends" ? 'o' : ';');
      return true;
    case Word::statement:
      finish(true);
      now_->declaration = false;
      put(text, at);
      if (text == "default") now_->lead = 'x';
      return true;
    case Word::declaration:
      finish(true);
      put(text, at);
      now_->declares = true;
      now_->ambient = false;
      now_->declaration = true;
      return true;
    case Word::type:
      if (!now_->open || at.line_before) return false;
      if (now_->type_begin == 0) now_->type_begin = code_.size();
      if (const std::uint32_t end = end_of_function_type(index + 1); end != 0) {
        // No part of an expression, but all of it is shown: whoever takes it for a type could be wrong.
        for (std::uint32_t i = index; i < end; ++i) put(source_of(tokens_[i]), tokens_[i]);
        skip_until_ = end;
        now_->in_type = true;
        now_->angles = 0;
        return true;
      }
      put(text, at);
      now_->in_type = true;
      now_->angles = 0;
      return true;
    case Word::skipped:
      if (now_->open) finish(true);
      return true;
    case Word::import_word: {
      if (now_->open) finish(true);
      const std::string_view next = index + 1 < tokens_.size() ? source_of(tokens_[index + 1]) : std::string_view();
      if (next == "(" || next == ".") {
        const bool is_type = index > 0 && source_of(tokens_[index - 1]) == "typeof";
        masked_load_ = is_type;
        begin_operand(at, Value{}, put(text, at));
        now_->tracked = true;
      } else {
        put(text, at);
        skip_until_ = import_clause(index);
        note_attributes(skip_until_);
      }
      return true;
    }
  }
  return false;
}

void ViewBuilder::member(std::string_view member_name, const Token& at) {
  now_->after_dot = false;
  const std::string_view code = code_.text();
  std::string_view owner =
      code.substr(now_->operand_begin, code.size() > now_->operand_begin ? code.size() - now_->operand_begin - 1 : 0);
  if (owner.size() > kOperandCodeMax) owner = {};  // no root is that long
  // Object.create(process).env; with a name, the name is followed.
  if (member_name == "env" && !owner.starts_with("process") && path_of(owner).starts_with("process")) {
    add_use("value", "process.env", "=", at.begin, at.end);
    owner = {};
  }
  const std::string_view qualified =
      names_.has_properties() ? property_name(now_->qualified, member_name) : std::string_view();
  const NameTable::Meaning* const meaning = qualified.empty() ? nullptr : names_.use(qualified);
  const Value* const known =
      meaning == nullptr || meaning->constant.kind == Value::Kind::unknown ? nullptr : &meaning->constant;
  if (now_->open && is_global_object(owner) && is_known_global(member_name)) {
    code_.truncate(now_->operand_begin);
    now_->operand_begin = put(member_name, at);
    now_->tracked = true;
  } else if (now_->open && member_name == "default" && is_tracked_path(owner)) {
    code_.truncate(code_.size() - 1);
  } else {
    if (now_->tracked && now_->open) {
      const std::string kept(owner);
      note_member(kept, member_name, at.begin, at.end);
    }
    const bool own = known != nullptr && known->kind == Value::Kind::own;
    put(own ? std::string_view("_process") : member_name, at);
  }
  now_->receiver = now_->operand;
  now_->method = member_name;
  now_->qualified = qualified;
  now_->operand = known != nullptr && known->kind != Value::Kind::own ? *known : Value{};
  if (now_->operand.kind == Value::Kind::path) {
    replace_operand(Value(now_->operand), now_->operand_begin, at);
    return;
  }
  // Where bun itself lies is bun, for whoever starts it.
  const bool is_bun = member_name == "execPath" || member_name == "argv0";
  if (now_->tracked && (is_bun || member_name == "sep")) {
    now_->operand.kind = Value::Kind::text;
    now_->operand.text = is_bun ? "bun" : "/";
  }
  if (now_->receiver.is_text() && (member_name == "href" || member_name == "pathname")) now_->operand = now_->receiver;
  now_->operand.begin = now_->receiver.begin;
  now_->operand.end = at.end;
  now_->word = {};
  now_->open = true;
}

void ViewBuilder::name(std::string_view text, std::uint32_t index) {
  const Token& at = tokens_[index];
  const std::string_view next = index + 1 < tokens_.size() ? source_of(tokens_[index + 1]) : std::string_view();
  if (now_->open) finish(true);
  if (now_->declares) {
    now_->declares = false;
    now_->declared = text;
    now_->annotated = true;
    now_->ambient = now_->ambient || (index > 1 && source_of(tokens_[index - 2]) == "declare");
    now_->name_token = index;
    names_.note_declared(text);
    begin_operand(at, Value{}, put(text, at));
    now_->word = text;
    return;
  }
  const std::string_view before = index > 0 ? source_of(tokens_[index - 1]) : std::string_view();
  if (before == "class" && is_root_name(text)) {
    const std::string_view earlier = index > 1 ? source_of(tokens_[index - 2]) : std::string_view(";");
    if (is_char(earlier, ';') || is_char(earlier, '}') || is_char(earlier, '{') || earlier == "export")
      declare_shadow(text, index);
  }
  const bool after_brace = is_char(before, '{') || is_char(before, ',');
  // The names that a pattern declares are not uses of what they stand for.
  const bool in_pattern =
      !groups_.empty() && groups_.back().outer->annotated && index < groups_.back().outer->pattern_end;
  const bool is_key = (is_char(next, ':') && after_brace) || is_char(next, '=') ||
      (in_pattern && (after_brace || is_char(before, ':')));
  Value value;
  std::string_view written = text;
  const NameTable::Meaning* meaning = is_key ? nullptr : names_.use(text);
  if (meaning != nullptr) {
    if (!meaning->path.empty()) written = meaning->path;
    value = meaning->constant;
  }
  value.begin = at.begin;
  value.end = at.end;
  std::string path;
  if (value.kind == Value::Kind::path) {
    path = value.text;
    written = path;
    value = Value{};
  }
  if (written == "path.sep") {
    value.kind = Value::Kind::text;
    value.text = "/";
  }
  const bool hidden = !is_key && written.data() == text.data() && !shadows_.empty() && is_shadowed(text, index);
  const std::string kept(hidden ? "_" + std::string(text) : std::string());
  begin_operand(at, value, put(hidden ? std::string_view(kept) : written, at));
  now_->tracked = !is_key && !hidden && (written.data() == text.data() ? is_root_name(text) : is_tracked_path(written));
  now_->word = text;
  now_->qualified = is_key ? std::string_view() : text;
}

Value ViewBuilder::literal_value(const Token& token) {
  Value value;
  const std::string_view inner = source_.substr(token.begin + 1, token.end - token.begin - 2);
  value.kind = Value::Kind::text;
  value.lone = true;
  value.begin = token.begin;
  value.end = token.end;
  value.text = inner;
  if (token.escaped && !token.markup) value.text = arena_.copy(decode_escapes(inner));
  return value;
}

void ViewBuilder::string_literal(std::uint32_t index) {
  const Token& at = tokens_[index];
  const Value value = literal_value(at);
  // export {a} from "m"
  const bool names_module = now_->open && now_->word == "from" && index > 0 && source_of(tokens_[index - 1]) == "from";
  if (now_->open && !now_->in_type) finish(true);
  const bool specifier = names_module && is_plain_specifier(value.text);
  if (names_module) note_reexport(index, value.text);
  // { ".env": ".." } names a property.
  const bool is_key = !groups_.empty() && groups_.back().open == '{' && (now_->lead == '{' || now_->lead == ',') &&
      index + 1 < tokens_.size() && is_char(source_of(tokens_[index + 1]), ':');
  add_entry(names_module ? "import" : is_key ? kKeyCallee : callee_here(), value.text, at.begin, at.end);
  // A text in a coding, unless it is only told or compared; as the name of a member it is read wherever it stands.
  const bool indexes = !groups_.empty() && groups_.back().open == '[' && groups_.back().call;
  if (indexes || (traits_of(callee_here()) & (kAsserts | kPassive)) == 0) {
    if (const std::string decoded = decoded_text(value.text); !decoded.empty()) {
      add_entry(indexes ? std::string_view() : callee_here(), decoded, at.begin, at.end);
    }
  }
  std::size_t begin = 0;
  if (specifier) {
    const std::string shown = "\"" + std::string(value.text) + "\"";
    begin = put(shown, at);
  } else {
    begin = put("\"\"", at);
  }
  if (!now_->in_type) begin_operand(at, value, begin);
}

void ViewBuilder::template_piece(std::uint32_t index) {
  const Token& at = tokens_[index];
  switch (at.kind) {
    case TokenKind::template_open: {
      const bool tagged = now_->open && !now_->in_type;
      // A template without substitutions is a string.
      const bool short_form = index + 1 < tokens_.size() && tokens_[index + 1].kind == TokenKind::template_close;
      const bool plain = index + 2 < tokens_.size() && tokens_[index + 1].kind == TokenKind::template_text &&
          tokens_[index + 2].kind == TokenKind::template_close;
      if (!tagged && (short_form || plain)) {
        Value value;
        value.kind = Value::Kind::text;
        value.lone = true;
        value.begin = at.begin;
        value.end = tokens_[index + (plain ? 2 : 1)].end;
        const std::string_view inner = plain ? source_of(tokens_[index + 1]) : std::string_view();
        value.text = plain && tokens_[index + 1].escaped ? arena_.copy(decode_escapes(inner)) : inner;
        add_entry(callee_here(), value.text, value.begin, value.end);
        const std::size_t begin = put("\"\"", at);
        if (!now_->in_type) begin_operand(at, value, begin);
        skip_until_ = index + (plain ? 3 : 2);
        return;
      }
      open_group('`', index);
      if (groups_.empty() || groups_.back().open != '`') break;  // too deep to follow
      groups_.back().tagged = tagged;
      groups_.back().raw = tagged && callee_here() == "String.raw";
      now_->sum.kind = Value::Kind::text;
      now_->sum.text = "";
      now_->sum.begin = at.begin;
      now_->sum.end = at.end;
      now_->has_sum = true;
      break;
    }
    case TokenKind::template_text: {
      if (groups_.empty() || groups_.back().open != '`') return;
      Value piece;
      piece.kind = Value::Kind::text;
      piece.begin = at.begin;
      piece.end = at.end;
      piece.text = at.escaped && !groups_.back().raw ? arena_.copy(decode_escapes(source_of(at))) : source_of(at);
      const Value sum = join_values(now_->sum, piece, arena_);
      if (!sum.is_text()) add_entry(callee_here(), piece.text, at.begin, at.end);  // too long to follow
      now_->sum = sum.is_text() ? sum : Value{};
      now_->sum.end = at.end;
      break;
    }
    case TokenKind::substitution_open: open_group('$', index); break;
    case TokenKind::substitution_close: close_group('$', index); break;
    default: close_group('`', index); break;
  }
}

// Writes the clause of an import statement and takes its names. Gives the index behind it, or the index behind `import`
// where no clause follows.
std::uint32_t ViewBuilder::import_clause(std::uint32_t index) {
  const std::uint32_t limit = static_cast<std::uint32_t>(tokens_.size());
  const auto text = [&](std::uint32_t i) { return i < limit ? source_of(tokens_[i]) : std::string_view(); };
  std::uint32_t string_at = index + 1;
  const auto is_specifier = [&](std::uint32_t i) {
    return tokens_[i].kind == TokenKind::string && (i == index + 1 || text(i - 1) == "from");
  };
  // A search that was in vain is so for every `import` that it passed, too.
  const Token* const here = tokens_.data() + index;
  const bool passed = vain_clause_.data() + vain_clause_.size() == tokens_.data() + tokens_.size() &&
      std::less_equal<>()(vain_clause_.data(), here) && std::less<>()(here, vain_clause_stop_);
  if (passed && string_at < limit && !is_specifier(string_at)) return index + 1;
  const auto in_vain = [&](std::uint32_t stop) {
    vain_clause_ = tokens_.subspan(index);
    vain_clause_stop_ = tokens_.data() + stop;
    return index + 1;
  };
  while (string_at < limit && !is_specifier(string_at)) {
    ++clause_tokens_;
    const TokenKind kind = tokens_[string_at].kind;
    const std::string_view t = text(string_at);
    const bool in_clause =
        kind == TokenKind::word || kind == TokenKind::string || t == "{" || t == "}" || t == "," || t == "*";
    if (!in_clause) return in_vain(string_at);
    ++string_at;
  }
  if (string_at >= limit) return in_vain(string_at);
  const Token& specifier_token = tokens_[string_at];
  const Value specifier = literal_value(specifier_token);
  // `import type X from "m"` loads nothing; `import type from "m"` and `import type, {x} from "m"` do.
  const bool type_only =
      text(index + 1) == "type" && text(index + 2) != "," && (text(index + 2) != "from" || text(index + 3) == "from");
  const std::string_view root = module_root(specifier.text);
  for (std::uint32_t i = index + 1; i < string_at; ++i) {
    const Token& at = tokens_[i];
    std::string_view word_text = source_of(at);
    if (at.kind == TokenKind::word && at.escaped) word_text = arena_.copy(decode_identifier(word_text));
    if (at.kind == TokenKind::string) word_text = literal_value(at).text;  // import { "name" as x }
    if (at.kind == TokenKind::string && !is_identifier(word_text)) {
      put("\"\"", at);
      continue;
    }
    put(word_text, at);
    if (root.empty() && !type_only && at.kind == TokenKind::word && groups_.empty() && text(i + 1) != "as") {
      if (!is_test_module(specifier.text)) names_.note_declared(word_text);
    }
    if (root.empty() && !type_only && at.kind == TokenKind::word && groups_.empty() && text(i + 1) != "as" &&
        text(i - 1) != "type") {
      declare_shadow(word_text, index);  // from a package or a file: not the global of that name
    }
    if (root.empty() || type_only || (at.kind != TokenKind::word && at.kind != TokenKind::string)) continue;
    const std::string_view before = i > index + 1 ? text(i - 1) : std::string_view();
    const std::string_view behind = text(i + 1);
    const bool renames = behind == "as" && i + 2 < string_at;
    if (before.empty() && (behind == "from" || behind == ",")) {
      add_alias(word_text, root, at.begin, at.end);
    } else if (before == "as" && i >= 2 && text(i - 2) == "*") {
      add_alias(word_text, root, at.begin, at.end);
    } else if (before == "{" || before == "," || (before == "type" && text(i - 2) != "import")) {
      const std::string_view local = renames ? text(i + 2) : word_text;
      if (word_text == "type" && !renames && behind != "," && behind != "}") continue;
      const std::string target =
          word_text == "default" ? std::string(root) : std::string(root) + "." + std::string(word_text);
      if (word_text != "default") note_member(root, word_text, at.begin, at.end);
      add_alias(local, target, at.begin, at.end);
    }
  }
  add_entry("import", specifier.text, specifier_token.begin, specifier_token.end);
  if (!type_only) note_module(specifier.text, specifier_token.begin, specifier_token.end);
  const bool shown = !type_only && is_plain_specifier(specifier.text);
  put(shown ? "\"" + std::string(specifier.text) + "\"" : std::string("\"\""), specifier_token);
  begin_operand(specifier_token, Value{}, code_.size());
  return string_at + 1;
}

}  // namespace guard
