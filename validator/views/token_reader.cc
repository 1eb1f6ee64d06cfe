#include "validator/views/token_reader.h"

#include <algorithm>
#include <array>
#include <functional>

#include "validator/values/known_names.h"

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

}  // namespace

TokenReader::TokenReader(std::string_view source, NameTable& names, Arena& arena, ValueLists& lists, ViewTexts& out,
    bool typed, std::optional<TextSpan> origin)
    : source_(source),
      names_(names),
      arena_(arena),
      lists_(lists),
      out_(out),
      writer_(out, names, arena, origin),
      typed_(typed) {}

void TokenReader::read(std::span<const Token> tokens) {
  tokens_ = tokens;
  at_ = closed_first_ = closed_end_ = 0;
  masked_load_ = false;
  shadows_.clear();
  if (frames_.empty()) frames_.emplace_back();
  frame_ = &frames_.front();
  frame_->restart(';', nullptr);
  writer_.put("\n;", Token{});
  level();
  finish(true);
  writer_.put("\n;", Token{});
}

// Constants that are used again and again could make the views far larger than the text.
bool TokenReader::spent_too_much() const noexcept {
  constexpr std::uint64_t kFactor = 16;
  constexpr std::uint64_t kSlack = 1ULL << 20;
  return out_.size() + arena_.used_bytes() + list_bytes_ > kFactor * read_bytes_ + kSlack;
}

// To the bracket that closes the frame, or one around it.
void TokenReader::level() {
  constexpr std::uint32_t kTokensPerCheck = 16;
  while (at_ < tokens_.size()) {
    if (++unchecked_ == kTokensPerCheck) {
      unchecked_ = 0;
      over_budget_ = over_budget_ || spent_too_much();
    }
    if (over_budget_) at_ = static_cast<std::uint32_t>(tokens_.size());
    const char open = over_budget_ ? '\0' : closes(tokens_[at_]);
    if (open == 0) {
      if (!over_budget_) token();
    } else if (is_open(open)) {
      return;
    } else {
      finish(true);
      put(tokens_[at_++]);
    }
  }
}

void TokenReader::token() {
  switch (tokens_[at_].kind) {
    case TokenKind::word: word(); break;
    case TokenKind::number: number(); break;
    case TokenKind::string: string_literal(); break;
    case TokenKind::regex:
      if (now().open) finish(true);
      begin_operand(unknown_at(tokens_[at_].begin, tokens_[at_].end), "/./", writer_.put("/./", tokens_[at_]));
      ++at_;
      break;
    case TokenKind::template_open: template_literal(); break;
    case TokenKind::template_text: template_text(); break;
    case TokenKind::substitution_open: group('$'); break;
    case TokenKind::punctuator: punctuator(); break;
    default: ++at_; break;
  }
}

std::uint32_t TokenReader::matching_bracket(std::uint32_t index) const noexcept {
  constexpr std::uint32_t kLookAheadMax = 4'000;  // tokens of a pattern
  std::uint32_t depth = 0;
  const std::uint32_t limit = std::min(static_cast<std::uint32_t>(tokens_.size()), index + kLookAheadMax);
  for (std::uint32_t i = index; i < limit; ++i) {
    if (tokens_[i].kind != TokenKind::punctuator) continue;
    const char c = source_[tokens_[i].begin];
    if (c == '{' || c == '[' || c == '(') ++depth;
    if ((c == '}' || c == ']' || c == ')') && --depth == 0) return i;
  }
  return 0;
}

// --- words ---------------------------------------------------------------------------------------------------------

std::string_view TokenReader::word_at(std::uint32_t index) {
  const std::string_view text = text_at(index);
  return index < tokens_.size() && tokens_[index].escaped ? arena_.copy(decode_identifier(text)) : text;
}

void TokenReader::word() {
  const std::string_view text = word_at(at_);
  const bool escaped = tokens_[at_].escaped;
  if (escaped && std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    writer_.add_escaped_name(tokens_[at_]);
  if (escaped || !keyword(text)) name(text);
}

bool TokenReader::keyword(std::string_view text) {
  const Token& at = tokens_[at_];
  Expression& e = now();
  switch (kind_of(text)) {
    case Word::name: return false;
    case Word::prefix:
      if (e.open) finish(true);
      e.prefixed = e.prefixed || text != "new";
      e.made = e.made || text == "new";
      break;
    case Word::operator_word:
      // `of` is a name, too.
      if (text == "of" && !e.open && !e.target.declaration) return false;
      operator_word(text);
      return true;
    case Word::statement:
      finish(true);
      e.target.declaration = false;
      if (text == "default") e.lead = 'x';
      break;
    case Word::declaration:
      finish(true);
      put(at);
      ++at_;
      e.target.ambient = false;
      e.target.declaration = true;
      declarator();
      return true;
    case Word::type:
      if (!e.open || at.line_before) return false;
      put(at);
      ++at_;
      type();
      return true;
    case Word::skipped:
      if (e.open) finish(true);
      ++at_;
      return true;
    case Word::import_word:
      if (e.open) finish(true);
      if (text_at(at_ + 1) != "(" && text_at(at_ + 1) != ".") {
        import_clause();
        return true;
      }
      masked_load_ = text_before() == "typeof";
      begin_operand(unknown_at(at.begin, at.end), text, put(at));
      e.operand.path = text;
      e.operand.tracked = true;
      ++at_;
      return true;
  }
  put(at);
  ++at_;
  return true;
}

void TokenReader::operator_word(std::string_view text) {
  Expression& e = now();
  const bool compares = text == "in" || text == "instanceof";
  e.opaque = e.opaque || compares || text == "of";
  if (text == "instanceof" && e.lead != '.') e.lead = 'i';  // X[Symbol.hasInstance] is handed the operand
  finish(!compares, text == "in" || text == "of");
  put(tokens_[at_++]);
  if (text == "return" || text == "throw" || text == "yield") {
    e.lead = 'r';
  } else {
    e.lead = text == "of" || text == "extends" ? 'o' : ';';
  }
}

void TokenReader::name(std::string_view text) {
  const Token& at = tokens_[at_];
  const std::string_view next = text_at(at_ + 1);
  const std::string_view before = text_before();
  Expression& e = now();
  if (e.open) finish(true);
  if (before == "class" && is_root_name(text)) {
    const std::string_view earlier = text_before(2);
    if (earlier.empty() || earlier == ";" || earlier == "}" || earlier == "{" || earlier == "export")
      declare_shadow(text, at_);
  }
  // Names that are declared, given a value or keys of an object are no uses of what they stand for.
  const bool behind_brace = before == "{" || before == ",";
  const bool is_key =
      (next == ":" && behind_brace) || next == "=" || (frame_->pattern && (behind_brace || before == ":"));
  Value value;
  std::string_view written = text;
  const NameTable::Meaning* const meaning = is_key ? nullptr : names_.use(text);
  if (meaning != nullptr) {
    value = meaning->constant;
    if (!meaning->path.empty()) written = meaning->path;
    if (value.kind == Value::Kind::path) {
      written = value.text;
      value = Value{};
    }
  }
  const bool alias = written.data() != text.data();
  if (written == "path.sep") {
    value.kind = Value::Kind::text;
    value.text = "/";
  }
  value.begin = at.begin;
  value.end = at.end;
  if (!is_key && !alias && is_shadowed(text)) written = arena_.concat(arena_.copy("_"), text);
  begin_operand(value, written, writer_.put(written, at));
  Operand& operand = e.operand;
  operand.tracked = !is_key && (alias ? is_tracked_path(written) : is_root_name(written));
  if (operand.tracked || written == "%.constructor") operand.path = written;
  operand.word = text;
  if (!is_key) operand.own = text;
  ++at_;
}

// Behind const, let, var and the commas there.
void TokenReader::declarator() {
  Expression& e = now();
  Target& target = e.target;
  const std::string_view text = text_at(at_);
  if (text == "{" || text == "[") {
    const std::uint32_t first = at_;
    const std::uint32_t end = matching_bracket(first);
    group(text[0], false, true);
    e.restart(';');
    target.pattern_first = end == 0 ? 0 : first;
    target.pattern_end = end;
  } else if (is_word(at_) && (kind_of(text) == Word::name || text == "of" || text == "as")) {
    target.declared = word_at(at_);
    target.name_token = at_;
    target.ambient = target.ambient || text_before(2) == "declare";
    names_.note_declared(target.declared);
    writer_.put(target.declared, tokens_[at_++]);
  } else {
    return;
  }
  if (text_at(at_) == "!") ++at_;
  if (text_at(at_) == ":") {
    put(tokens_[at_++]);
    type();
  }
  if (text_at(at_) == "=") {
    put(tokens_[at_++]);
    e.lead = '=';
    return;
  }
  if (text_at(at_) == "in") return;  // the keys of process.env are no secret, but nobody needs them
  if (text_at(at_) == "of" && target.pattern_end != 0) bind_pattern(target.pattern_first, target.pattern_end, {}, {});
  target.declared = {};
  target.pattern_first = target.pattern_end = 0;
}

bool TokenReader::ends_type(const Token& at, std::string_view text, std::uint32_t angles) const noexcept {
  if (at.kind == TokenKind::word) return at.line_before && angles == 0;
  if (at.kind != TokenKind::punctuator) {
    return at.kind != TokenKind::string && at.kind != TokenKind::number && at.kind != TokenKind::template_open;
  }
  if (text == "(" || text == "[" || text == "{" || text == "<") return false;
  if (angles > 0) return text == ")" || text == ";" || text == "}" || text == "]";
  return text != "." && text != "|" && text != "&";
}

// A type behind `as` and its kin or the colon of a declaration: shown, but no part of an expression.
void TokenReader::type() {
  std::uint32_t angles = 0;
  for (const std::uint32_t first = at_; at_ < tokens_.size(); ++at_) {
    const Token& at = tokens_[at_];
    const std::string_view text = text_at(at_);
    if (ends_type(at, text, at_ == first ? 1 : angles)) return;
    const std::uint32_t close = text == "(" ? matching_bracket(at_) : 0;
    if (close != 0 && text_at(close + 1) == "=>") {
      // (a: T) => U. All of it is shown: whoever takes it for a type could be wrong.
      while (at_ <= close) put(tokens_[at_++]);
      put(tokens_[at_]);
    } else if (at.kind == TokenKind::template_open || text == "(" || text == "[" || text == "{") {
      group(text[0], true);
      --at_;
    } else if (at.kind == TokenKind::string) {
      writer_.add_string(callee_here(), literal_value(at).text, at.begin, at.end);
      writer_.put("\"\"", at);
    } else {
      if (text == "<") ++angles;
      if (text == ">" && angles > 0) --angles;
      // `x as any < 2, process` may also compare.
      const bool root = text == "process" || text == "Bun" || text == "globalThis" || text == "eval";
      if (root && angles > 0 && text_before() != "typeof" && text_before() != ".")
        writer_.add_use("value", text, "<", at.begin, at.end);
      put(at);
    }
  }
}

// --- literals ------------------------------------------------------------------------------------------------------

Value TokenReader::literal_value(const Token& token) {
  Value value;
  const std::string_view inner = source_.substr(token.begin + 1, token.end - token.begin - 2);
  value.kind = Value::Kind::text;
  value.lone = true;
  value.begin = token.begin;
  value.end = token.end;
  value.text = token.escaped && !token.markup ? arena_.copy(decode_escapes(inner)) : inner;
  return value;
}

void TokenReader::number() {
  const Token& at = tokens_[at_];
  Expression& e = now();
  if (e.open) finish(true);
  Value value = number_value(text_at(at_));
  if (e.negative) value.number = -value.number;
  value.begin = at.begin;
  value.end = at.end;
  begin_operand(value, text_at(at_), put(at));
  ++at_;
}

// "env" of spawn("bun", ["cli.ts", "env"]) and spawn(["bun", "cli.ts", "env"]), as a whole item.
bool TokenReader::is_script_argument() const noexcept {
  const Frame& list = *frame_;
  if (list.open != '[' || list.call || list.outer == nullptr || list.outer->open != '(' || text_before() != ",")
    return false;
  const std::string_view next = text_at(at_ + 1);
  if (next != "," && next != "]") return false;
  const auto items = std::span(args_).subspan(list.outer->args_begin);
  const auto is_script = [](const Argument& item) {
    const std::string_view text = item.value.is_text() ? item.value.text : std::string_view();
    return text.ends_with(".ts") || text.ends_with(".js") || text.ends_with(".mjs") || text.ends_with(".cjs");
  };
  static constexpr std::array<std::string_view, 4> kRuntimes = {"bun", "node", "deno", "tsx"};
  return items.size() > 1 && items[0].value.is_text() &&
      std::find(kRuntimes.begin(), kRuntimes.end(), items[0].value.text) != kRuntimes.end() &&
      std::any_of(items.begin() + 1, items.end(), is_script);
}

void TokenReader::string_literal() {
  const Token& at = tokens_[at_];
  const Value value = literal_value(at);
  // export {a} from "m"
  const bool names_module = now().word() == "from" && text_before() == "from";
  if (now().open) finish(true);
  if (names_module) note_reexport(value.text);
  // { ".env": ".." } names a property.
  const bool is_key = frame_->open == '{' && (now().lead == '{' || now().lead == ',') && text_at(at_ + 1) == ":";
  const std::string_view callee = callee_here();
  writer_.add_string(names_module ? "import"
          : is_key                ? kKeyCallee
                                  : callee,
      value.text, at.begin, at.end, is_script_argument() ? ViewWriter::Text::argument : ViewWriter::Text::whole);
  // A text in a coding, unless it is only told or compared; as the name of a member it is read wherever it stands.
  const bool indexes = frame_->open == '[' && frame_->call;
  if (indexes || (traits_of(callee) & (kAsserts | kPassive)) == 0) {
    if (const std::string decoded = decoded_text(value.text); !decoded.empty())
      writer_.add_string(indexes ? std::string_view() : callee, decoded, at.begin, at.end);
  }
  const bool shown = names_module && is_plain_specifier(value.text);
  const std::size_t begin = writer_.put(shown ? "\"" + std::string(value.text) + "\"" : "\"\"", at);
  begin_operand(value, "\"\"", begin);
  ++at_;
}

void TokenReader::template_literal() {
  // Without substitutions it is a string.
  const Token& at = tokens_[at_];
  const auto is_close = [&](std::uint32_t i) {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::template_close;
  };
  const bool empty = is_close(at_ + 1);
  const bool plain = is_close(at_ + 2) && tokens_[at_ + 1].kind == TokenKind::template_text;
  if (now().open || (!empty && !plain)) {
    group('`');
    return;
  }
  Value value;
  value.kind = Value::Kind::text;
  value.lone = true;
  value.begin = at.begin;
  value.end = tokens_[at_ + (plain ? 2 : 1)].end;
  if (plain) value.text = text_at(at_ + 1);
  if (plain && tokens_[at_ + 1].escaped) value.text = arena_.copy(decode_escapes(value.text));
  writer_.add_string(callee_here(), value.text, value.begin, value.end);
  begin_operand(value, "\"\"", writer_.put("\"\"", at));
  at_ += plain ? 3 : 2;
}

void TokenReader::template_text() {
  const Token& at = tokens_[at_];
  const std::string_view text = text_at(at_);
  ++at_;
  if (frame_->open != '`') return;
  Value piece;
  piece.kind = Value::Kind::text;
  piece.text = at.escaped && !frame_->raw ? arena_.copy(decode_escapes(text)) : text;
  Value& sum = now().sum;
  const Value longer = join_values(sum, piece, arena_);
  if (!longer.is_text()) writer_.add_string(callee_here(), piece.text, at.begin, at.end);  // too long to follow
  sum = longer.is_text() ? longer : Value{};
  sum.end = at.end;
}

// --- operands ------------------------------------------------------------------------------------------------------

void TokenReader::begin_operand(const Value& value, std::string_view name, std::size_t code_begin) {
  Expression& e = now();
  e.open = true;
  e.operand.restart(value, name, code_begin);
  e.operand.code_end = writer_.code_size();
}

std::string_view TokenReader::longer(std::string_view name, std::string_view tail) {
  const std::size_t begin = static_cast<std::size_t>(name.data() - source_.data());
  const bool here = std::less_equal<>()(source_.data(), name.data()) && begin < source_.size() &&
      name.size() + tail.size() <= kNameMax &&
      (tail.data() == name.data() + name.size() || source_.substr(begin + name.size()).starts_with(tail));
  return here ? source_.substr(begin, name.size() + tail.size()) : longer_name(name, tail, arena_);
}

// .name behind the operand.
void TokenReader::member(std::string_view name, const Token& dot, const Token& at) {
  Expression& e = now();
  if (!e.open) begin_operand(unknown_at(dot.begin, dot.end), {}, writer_.code_size());
  Operand& o = e.operand;
  // With a name, what inherits from a root is followed.
  if (o.called && o.path == "process" && name == "env") writer_.add_use("value", "process.env", "=", at.begin, at.end);
  std::string_view path = o.called && name != "constructor" ? std::string_view() : member_path(o.path, name, arena_);
  const std::string_view own = names_.has_properties() ? property_name(o.own, name) : std::string_view();
  const NameTable::Meaning* const meaning = own.empty() ? nullptr : names_.use(own);
  const Value known = meaning == nullptr ? Value{} : meaning->constant;
  if (is_global_object(o.path) && path == name) {
    writer_.cut_code(o.code_begin);
    o.code_begin = writer_.put(name, at);
    o.name = name;
    o.tracked = true;
    if (!is_root_name(name)) path = {};
  } else if (name != "default" || path.empty()) {
    if (o.tracked && !o.path.empty() && !o.called) note_member(o.path, name, at.begin, at.end);
    const std::string_view written = known.kind == Value::Kind::own ? "_process" : name;
    writer_.put(".", dot);
    writer_.put(written, at);
    o.name = longer(longer(o.name, "."), written);
  }
  o.receiver = o.value;
  o.method = name;
  o.path = path;
  o.called = false;
  o.own = own;
  o.word = {};
  o.value = known.kind == Value::Kind::own ? Value{} : known;
  o.code_end = writer_.code_size();
  if (o.value.kind == Value::Kind::path) {
    replace_operand(o.value.text, at.end);
    return;
  }
  // Where bun itself lies is bun, for whoever starts it.
  const bool is_bun = name == "execPath" || name == "argv0";
  if (o.tracked && (is_bun || name == "sep")) {
    o.value.kind = Value::Kind::text;
    o.value.text = is_bun ? "bun" : "/";
  }
  if (o.receiver.is_text() && (name == "href" || name == "pathname")) o.value = o.receiver;
  o.value.begin = o.receiver.begin;
  o.value.end = at.end;
}

// The operand turned out to be this path.
void TokenReader::replace_operand(std::string_view path, std::uint32_t end) {
  const Operand& old = now().operand;
  const std::uint32_t begin = old.begin;
  const std::size_t code_begin = old.code_begin;
  writer_.cut_code(code_begin);
  Token place;
  place.begin = begin;
  place.end = end;
  begin_operand(unknown_at(begin, end), path, writer_.put(path, place));
  now().operand.path = path;
  now().operand.tracked = true;
}

// Ends the part of an expression that was read so far and gives its value. `last`: the expression as a whole ends here;
// otherwise another alternative of it follows (a || b, c ? a : b). `compared`: only the operator behind it looks at it.
Value TokenReader::finish(bool last, bool compared) {
  Expression& e = now();
  Value total = e.open ? e.operand.value : Value{};
  if (e.has_sum) total = e.open ? join_values(e.sum, e.operand.value, arena_) : e.sum;
  if (e.open && e.operand.tracked && !compared) note_value(last);
  if (e.alone() && total.kind == Value::Kind::unknown && !e.operand.path.empty()) {
    total.kind = Value::Kind::path;
    total.text = e.operand.path;
  }
  if (total.is_text() && !total.lone) writer_.add_string(callee_here(), total.text, total.begin, total.end);
  if (e.lead == ':' && last) name_property(total);
  if (!e.target.declared.empty() || e.target.pattern_end != 0) bind(total, last);
  e.target.put_back = {};
  if (last) {
    e.target.declared = {};
    e.target.pattern_first = e.target.pattern_end = e.target.name_token = 0;
    e.target.ambient = e.target.declaration && e.target.ambient;
  }
  e.restart(last ? ';' : e.lead);
  return total;
}

void TokenReader::end_argument() {
  Expression& e = now();
  const bool spread = e.lead == '.' && e.prefixed;
  Argument argument;
  if (e.open && !e.has_sum && !e.prefixed) {
    argument.name = e.operand.name;
    argument.path = e.operand.path;
  }
  argument.value = finish(true);
  const std::size_t count = args_.size() - frame_->args_begin;
  if (count == 0 && (frame_->called == "Reflect.apply" || frame_->called == "Reflect.construct"))
    frame_->called = argument.name;
  if (spread && argument.value.kind == Value::Kind::list) {
    const std::vector<Value>& items = lists_[argument.value.list];
    if (count + items.size() > kListMax) return;
    for (const Value& item : items) args_.push_back({item, {}, {}});
  } else if (count <= kListMax) {
    args_.push_back(argument);
  }
}

}  // namespace guard
