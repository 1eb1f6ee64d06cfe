#include "validator/view_builder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "validator/fold_url.h"
#include "validator/known_names.h"
#include "validator/shell_commands.h"

namespace guard {
namespace {

constexpr std::size_t kOperandCodeMax = 256;  // longer operands keep their parentheses
constexpr std::uint32_t kLookAheadMax = 4'000;  // tokens of an import clause or a pattern
constexpr std::size_t kOtherMeaningsMax = 4096;
constexpr std::size_t kGroupsMax = 100'000;
constexpr std::size_t kCalleeMax = 48;
constexpr std::string_view kKeyCallee = "key";  // of texts that are names of properties

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
    case packed_name("extends"):
      return Word::operator_word;
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
    case packed_name("finally"):
      return Word::statement;
    case packed_name("new"):
    case packed_name("typeof"):
    case packed_name("void"):
    case packed_name("delete"):
      return Word::prefix;
    case packed_name("await"):
      return Word::skipped;
    case packed_name("const"):
    case packed_name("let"):
    case packed_name("var"):
      return Word::declaration;
    case packed_name("as"):
      return Word::type;
    case packed_name("import"):
      return Word::import_word;
    default:
      break;
  }
  if (name == "instanceof") return Word::operator_word;
  return name == "satisfies" ? Word::type : Word::name;
}

// Words of the code view: names, private ones too, and numbers.
bool is_code_word_byte(char c) noexcept { return is_word_byte(c) || c == '#'; }

// What stands in parentheses behind these is no list of parameters.
bool is_condition_word(std::string_view text) noexcept {
  return text == "if" || text == "while" || text == "for" || text == "switch" || text == "with" || text == "catch";
}

bool is_test_module(std::string_view specifier) noexcept {
  return specifier == "bun:test" || specifier == "vitest" || specifier == "@jest/globals" || specifier == "node:test" ||
         specifier == "node:assert" || specifier == "node:assert/strict" || specifier == "assert" || specifier == "chai";
}

bool is_char(std::string_view text, char c) noexcept {
  return text.size() == 1 && text[0] == c;
}

// What may be shown of a string in the code view: a module name and nothing that could be taken for code.
bool is_plain_specifier(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 200 && std::all_of(text.begin(), text.end(), [](char c) {
    return is_code_word_byte(c) || c == '/' || c == '.' || c == '-' || c == '@' || c == ':' || c == '+' || c == kWildcard;
  });
}

bool is_known_global(std::string_view name) noexcept;

// globalThis.eval is eval.
std::string without_global_object(std::string path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos || !is_global_object(std::string_view(path).substr(0, dot))) return path;
  const std::string_view rest = std::string_view(path).substr(dot + 1);
  return is_known_global(rest.substr(0, rest.find('.'))) ? std::string(rest) : path;
}

bool is_known_global(std::string_view name) noexcept {
  static constexpr std::array<std::string_view, 17> kGlobals = {
      "process", "Bun",        "console", "eval", "Function", "require", "fetch",  "globalThis", "global",
      "self",    "setTimeout", "window",  "atob", "Reflect",  "Worker",  "Buffer", "setInterval"};
  return std::find(kGlobals.begin(), kGlobals.end(), name) != kGlobals.end();
}

// Could it do anything that the rules look for, if it were run?
bool is_code_like(std::string_view text) noexcept {
  for (const std::string_view word : {"process", "Bun", "import", "require", "env", "exec", "spawn", "Function", "eval", "proc/", "rm"}) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// The text of a data: URL, without its coding.
std::string_view data_url_text(std::string_view url, Arena& arena) {
  const std::size_t comma = url.find(',');
  if (comma == std::string_view::npos) return {};
  const std::string_view head = url.substr(0, comma);
  const std::string_view body = url.substr(comma + 1);
  Value text;
  text.kind = Value::Kind::text;
  text.text = body;
  ValueLists none;
  const bool base64 = head.ends_with(";base64");
  const Value decoded = fold_function(base64 ? "atob" : "decodeURIComponent", std::span(&text, 1), none, arena);
  return decoded.is_text() ? decoded.text : body;
}

// CODE of `bun -e CODE`, `node --eval=CODE`; empty if the command has none.
std::string_view inline_script(std::string_view command) noexcept {
  const std::size_t blank = command.find(' ');
  if (blank == std::string_view::npos) return {};
  const std::string_view program = command.substr(0, blank);
  if (program != "bun" && program != "node" && program != "deno" && program != "nodejs" && program != "tsx" && program != std::string_view(&kWildcard, 1)) return {};
  for (const std::string_view option : {" -e ", " -p ", " -pe ", " -ep ", " --eval ", " --eval=", " --print ", " --print=", " eval "}) {
    const std::size_t at = command.find(option, blank);
    if (at != std::string_view::npos) return command.substr(at + option.size());
  }
  return {};
}

}  // namespace

ViewBuilder::ViewBuilder(std::string_view source, NameTable& names, Arena& arena, ValueLists& lists, ViewTexts& out,
                         bool typed, std::optional<TextSpan> origin)
    : source_(source),
      names_(names),
      arena_(arena),
      lists_(lists),
      out_(out),
      code_(out.code),
      strings_(out.strings),
      typed_(typed),
      origin_(origin) {}

ViewBuilder::~ViewBuilder() = default;

void ViewBuilder::read_main(std::span<const Token> tokens) {
  main_tokens_ = tokens;
  main_reading_ = true;
  read(tokens);
  main_reading_ = false;
}

void ViewBuilder::read(std::span<const Token> tokens) {
  tokens_ = tokens;
  groups_.clear();
  now_ = &expressions_[0];
  now_->reset(';');
  args_.clear();
  skip_until_ = 0;
  masked_load_ = false;
  handed_roots_.clear();
  if (call_depth_ == 0) shadows_.clear();
  closed_first_ = closed_end_ = 0;
  write(code_, "\n;", 0, 0);
  for (std::uint32_t i = 0; i < tokens_.size(); ++i) {
    if (i < skip_until_) continue;
    if (spent_too_much()) {
      over_budget_ = true;
      break;
    }
    token(i);
  }
  while (!groups_.empty()) {
    finish(true);
    now_ = groups_.back().outer;
    groups_.pop_back();
  }
  finish(true);
  write(code_, "\n;", 0, 0);
  append_calls();
}

void ViewBuilder::read_other_meanings(std::span<const Token> tokens) {
  constexpr std::uint32_t kBefore = 3;
  constexpr std::uint32_t kBehind = 96;
  std::vector<OtherMeaning> meanings;
  meanings.swap(other_meanings_);
  for (const OtherMeaning& meaning : meanings) {
    const std::uint32_t first = meaning.token > kBefore ? meaning.token - kBefore : 0;
    const std::uint32_t end = std::min(static_cast<std::uint32_t>(tokens.size()), meaning.token + kBehind);
    forced_token_ = meaning.token - first;
    forced_index_ = meaning.index;
    read(tokens.subspan(first, end - first));
    if (over_budget_) break;
    forced_token_ = UINT32_MAX;
  }
  other_meanings_.clear();
}

// Constants that are used again and again could make the views far larger than the text.
bool ViewBuilder::spent_too_much() const noexcept {
  constexpr std::uint64_t kFactor = 16;
  constexpr std::uint64_t kSlack = 1ULL << 20;
  return out_.size() + arena_.used_bytes() + list_bytes_ > kFactor * read_bytes_ + kSlack;
}

// --- writing -------------------------------------------------------------------------------------------------------

std::string_view ViewBuilder::source_of(const Token& token) const noexcept {
  return source_.substr(token.begin, token.end - token.begin);
}

void ViewBuilder::write(MappedText& to, std::string_view text, std::uint32_t begin, std::uint32_t end) {
  if (origin_) {
    begin = static_cast<std::uint32_t>(origin_->begin);
    end = static_cast<std::uint32_t>(origin_->end);
  }
  to.append(text, begin, end);
}

// Where `text` begins in the code view, behind the blank that keeps it apart from the word before.
std::size_t ViewBuilder::put(std::string_view text, const Token& token) {
  const std::string& code = code_.text();
  if (!text.empty() && !code.empty() && is_code_word_byte(code.back()) &&
      (is_code_word_byte(text.front()) || text.front() == '\\')) {
    const bool behind_new = code.ends_with("new") && (code.size() == 3 || !is_code_word_byte(code[code.size() - 4]));
    write(code_, token.line_before && !behind_new ? "\n" : " ", token.begin, token.begin);
  }
  const std::size_t begin = code_.size();
  write(code_, text, token.begin, token.end);
  return begin;
}

void ViewBuilder::replace_code(std::size_t from, std::string_view text, std::uint32_t begin, std::uint32_t end) {
  const std::string kept(text);
  code_.truncate(from);
  Token place;
  place.begin = begin;
  place.end = end;
  put(kept, place);
}

void ViewBuilder::add_entry(std::string_view callee, std::string_view text, std::uint32_t begin, std::uint32_t end, bool joined) {
  CalleeTraits traits = traits_of(callee);
  // Only what is known by more than its last name is taken for harmless.
  if (callee.data() == kKeyCallee.data()) traits = kPassive;
  if ((traits & (kAsserts | kPassive)) != 0 && is_own_name(callee)) traits &= static_cast<CalleeTraits>(~(kAsserts | kPassive));
  const std::string_view whole_callee = callee;
  if (callee.size() > kCalleeMax) callee.remove_prefix(callee.size() - kCalleeMax);
  std::string cleaned;
  const auto is_marker = [](char c) { return c == kEntryBegin || c == kEntryText || c == kEntryEnd; };
  if (std::any_of(text.begin(), text.end(), is_marker)) {
    cleaned = text;
    std::replace_if(cleaned.begin(), cleaned.end(), is_marker, ' ');
    text = cleaned;
  }
  const auto add = [&](std::string_view content) {
    scratch_.assign(1, kEntryBegin);
    if ((traits & (kAsserts | kPassive)) != 0) scratch_ += '=';
    if ((traits & kAsserts) != 0 && whole_callee.starts_with("expect(")) scratch_ += '=';
    scratch_ += callee;
    scratch_ += kEntryText;
    if (joined) scratch_ += kEntryJoined;
    write(strings_, scratch_, begin, begin);
    write(strings_, content, begin, end);
    write(strings_, std::string_view(&kEntryEnd, 1), end, end);
  };
  // The quotes of a literal are no part of its text.
  if (end - begin == text.size() + 2) {
    ++begin;
    --end;
  }
  // What a call only computes is told where its result is used.
  const bool told = call_depth_ == 0 || !callee.empty();
  if (told) add(text);
  if (text.size() < 3) return;
  const TextSpan span = origin_ ? *origin_ : TextSpan{begin, end};
  if (out_.keeps_texts && text.size() >= 8 && text.find_first_of("(.") != std::string_view::npos && is_code_like(text)) {
    if (out_.texts.size() <= kTextsMax) out_.texts.push_back({arena_.copy(text), span});
  }
  const bool data_url = text.starts_with("data:");
  if ((traits & kRunsText) != 0 || data_url) {
    const std::string_view code = data_url ? data_url_text(text, arena_) : text;
    if (code.size() >= 4) out_.nested.push_back({arena_.copy(code), span});
  }
  const bool certain = (traits & kRunsCommand) != 0;
  const bool likely = certain || ((traits & kAsserts) == 0 && callee != "import" && names_program(text));
  if (likely) add_commands(whole_callee, text, false, begin, end);
  if (text.size() > kTextMax || !told) return;
  if (text.find('/') != std::string_view::npos) {
    const std::string path = normalized_path(text);
    if (!path.empty()) add(path);
  }
  if (!likely && text.size() > 256) return;
  const std::string command = shell_reading(text);
  if (!command.empty()) add(command);
}

void ViewBuilder::add_folded(const Value& value) {
  if (value.is_text() && !value.lone) add_entry(callee_here(), value.text, value.begin, value.end);
}

void ViewBuilder::add_command(std::span<const Value> words, std::uint32_t begin, std::uint32_t end) {
  const auto is_text = [](const Value& value) { return value.is_text(); };
  if (words.empty() || words.size() > kListMax || std::none_of(words.begin(), words.end(), is_text)) return;
  std::string argv;
  for (const Value& word : words) {
    if (!argv.empty()) argv += '\0';
    if (word.is_text()) {
      argv += word.text;
    } else {
      argv += kWildcard;
    }
  }
  const std::string callee(callee_here());
  const CalleeTraits traits = traits_of(callee);
  if ((traits & kAsserts) != 0 && !is_own_name(callee)) return;
  add_commands(callee, argv, true, begin, end);
  if (words.size() > 1) add_entry(callee, command_line(words), begin, end, (traits & kRunsCommand) == 0);
}

void ViewBuilder::add_commands(std::string_view callee, std::string_view text, bool argv, std::uint32_t begin, std::uint32_t end) {
  std::string commands;
  if (!(argv ? append_argv_command(text, commands) : append_shell_commands(text, commands))) return;
  if (callee.size() > kCalleeMax) callee.remove_prefix(callee.size() - kCalleeMax);
  // { cmd: ["npm", "ci"] } is for Bun.spawn.
  bool in_options = false;
  for (std::size_t back = 1; argv && back <= 2 && back <= groups_.size(); ++back) {
    const Group& group = groups_[groups_.size() - back];
    in_options = in_options || (group.open == '{' && group.key == "cmd");
  }
  const bool certain = in_options || (traits_of(callee) & kRunsCommand) != 0;
  std::string entry(1, kEntryBegin);
  entry += certain ? '!' : '?';
  entry += callee;
  entry += commands;
  entry += kEntryEnd;
  write(out_.commands, entry, begin, end);
  if (!certain) return;
  // bun -e CODE
  for (std::string_view rest = commands; !rest.empty();) {
    const std::size_t next = rest.find('\x1d');
    if (next == std::string_view::npos) break;
    rest.remove_prefix(next + 1);
    const std::string_view command = rest.substr(0, rest.find('\x1d'));
    const std::string_view code = inline_script(command);
    if (code.size() >= 4) out_.nested.push_back({arena_.copy(code), origin_ ? *origin_ : TextSpan{begin, end}});
  }
}

// The function that a value in the innermost open call is handed to; brackets and braces are looked through.
std::string_view ViewBuilder::callee_here() const noexcept {
  std::size_t looked_at = 0;
  for (auto group = groups_.rbegin(); group != groups_.rend() && looked_at < 16; ++group, ++looked_at) {
    const bool is_call = (group->open == '(' && group->call) || group->tagged;
    if (is_call) return called(*group);
  }
  return {};
}

// What a call calls in the end: f of f.call(..), f.apply(..), f.bind(..)(..), Reflect.apply(f, ..), [f][0](..).
std::string_view ViewBuilder::called(const Group& group) const noexcept {
  const std::string_view code = code_.text();
  std::string_view callee = code.substr(group.callee_begin, group.code_begin - group.callee_begin);
  if ((callee == "Reflect.apply" || callee == "Reflect.construct") && group.first_arg_end > group.code_begin) {
    return code.substr(group.code_begin + 1, group.first_arg_end - group.code_begin - 1);
  }
  for (const std::string_view tail : {".call", ".apply", ".bind"}) {
    if (callee.ends_with(tail)) return callee.substr(0, callee.size() - tail.size());
  }
  if (!callee.empty() && callee.back() == ')' && callee.size() <= kOperandCodeMax) {
    const std::size_t bind = callee.find(".bind(");
    if (bind != std::string_view::npos) return callee.substr(0, bind);
  }
  return callee;
}

// --- expressions ---------------------------------------------------------------------------------------------------

void ViewBuilder::begin_operand(const Token& at, const Value& value, std::size_t code_begin) {
  now_->open = true;
  now_->operand = value;
  if (now_->operand.end == 0) {
    now_->operand.begin = at.begin;
    now_->operand.end = at.end;
  }
  now_->operand_begin = code_begin;
  now_->tracked = false;
  now_->word = {};
  now_->method = {};
  now_->after_dot = false;
  now_->source_begin = at.begin;
}

// Ends the part of an expression that was read so far and gives its value. `last`: the expression as a whole ends here;
// otherwise another alternative of it follows (a || b, c ? a : b).
Value ViewBuilder::finish(bool last) {
  Value total = now_->has_sum ? join_values(now_->sum, now_->operand, arena_) : now_->operand;
  if (now_->has_sum && !now_->open) total = now_->sum;
  if (!now_->open && !now_->has_sum) total = Value{};
  if (now_->tracked) note_value(last);
  if (now_->function.kind == Value::Kind::function) total = now_->function;
  if ((now_->tracked || now_->method == "constructor") && total.kind == Value::Kind::unknown && now_->open && !now_->has_sum && !now_->prefixed && !now_->opaque) {
    if (const std::string_view path = path_of_operand(); !path.empty()) {
      total.kind = Value::Kind::path;
      total.text = arena_.copy(path);
    }
  }
  if (now_->lead == 'r' || (groups_.empty() && now_->open)) result_ = total.kind != Value::Kind::unknown || now_->lead == 'r' ? total : result_;
  add_folded(total);
  if (last && total.is_text() && total.text.empty() && now_->earlier.is_text()) total = now_->earlier;  // c ? "/" : ""
  if (now_->yielded && yields_.size() < kListMax) yields_.push_back(total);
  if (!last && now_->tracked && now_->open && !now_->has_sum && !now_->compared && !groups_.empty() && groups_.back().open == '(') {
    if (const std::string_view path = path_of_operand(); !path.empty()) groups_.back().alternative = arena_.copy(path);
  }
  if (!last && now_->open && !now_->has_sum && !now_->compared && !groups_.empty() && groups_.back().open == '(' &&
      (traits_of(now_->word) != 0 || now_->word.ends_with("Sync"))) {
    groups_.back().alternative = now_->word;
  }
  if (last) keep_property(total);
  if (now_->lead == ':' && last) name_property(total);
  if (!now_->declared.empty() || now_->pattern_end != 0) bind(total, last);
  const bool declaration = now_->declaration;
  const bool ambient = declaration && now_->ambient;
  const std::string_view declared = now_->declared;
  const std::uint32_t pattern_first = now_->pattern_first;
  const std::uint32_t pattern_end = now_->pattern_end;
  const Value earlier = !last && total.is_text() ? total : Value{};
  now_->reset(last ? ';' : now_->lead);
  now_->declaration = declaration;
  now_->ambient = ambient;
  if (!last) {
    now_->declared = declared;
    now_->pattern_first = pattern_first;
    now_->pattern_end = pattern_end;
    now_->earlier = earlier;
  }
  return total;
}

void ViewBuilder::bind(const Value& total, bool last) {
  if (now_->annotated) return;
  const bool may_lead = now_->tracked || now_->method == "constructor" || (!code_.text().empty() && code_.text().back() == ')');
  std::string_view path;
  if (may_lead && now_->open && !now_->has_sum && !now_->opaque && !now_->prefixed) path = gives_process() ? "process" : path_of_operand();
  bool known_before_use = true;
  if (!now_->declared.empty()) {
    const bool is_path = total.kind == Value::Kind::path && call_depth_ == 0;
    const bool has_value = total.kind != Value::Kind::unknown && !now_->opaque && !is_path;
    if (has_value || last) {
      Value value = has_value ? total : Value{};
      value.lone = false;  // where the name is used, the text is handed to another function
      known_before_use = give(now_->declared, value);
    }
    if (!path.empty()) {
      known_before_use = names_.add_alias(now_->declared, path) && known_before_use;
      if (is_path) known_before_use = give_member(now_->declared, total) && known_before_use;
    }
    if (path.empty() && last && now_->declaration && !now_->ambient && !now_->opaque && now_->operand_known()) {
      declare_shadow(now_->declared, now_->name_token);
    }
  }
  if (now_->pattern_end != 0) bind_pattern(now_->pattern_first, now_->pattern_end, path, now_->opaque ? Value{} : total);
  second_reading_ = second_reading_ || !known_before_use;
}

Value ViewBuilder::end_argument() {
  const bool spread = now_->lead == '.' && now_->prefixed;
  const Value total = finish(true);
  if (spread && total.kind == Value::Kind::list) {
    const std::vector<Value> items = lists_[total.list];
    if (args_.size() - (groups_.empty() ? 0 : groups_.back().args_begin) + items.size() <= kListMax) {
      args_.insert(args_.end(), items.begin(), items.end());
    }
    return total;
  }
  if (spread && total.is_known_text() && total.text.size() <= kListMax) {  // [..."text"]
    for (std::size_t i = 0; i < total.text.size(); ++i) {
      Value letter = total;
      letter.lone = false;
      letter.text = total.text.substr(i, 1);
      args_.push_back(letter);
    }
    return total;
  }
  if (args_.size() - (groups_.empty() ? 0 : groups_.back().args_begin) <= kListMax) args_.push_back(total);
  return total;
}

// --- tokens --------------------------------------------------------------------------------------------------------

void ViewBuilder::token(std::uint32_t index) {
  const Token& at = tokens_[index];
  index_ = index;
  switch (at.kind) {
    case TokenKind::word:
      word(index);
      break;
    case TokenKind::number: {
      if (now_->open && !now_->in_type) finish(true);
      const std::size_t begin = put(source_of(at), at);
      if (!now_->in_type) {
        Value value = number_value(source_of(at));
        if (now_->negative) value.number = -value.number;
        value.begin = at.begin;
        value.end = at.end;
        begin_operand(at, value, begin);
      }
      break;
    }
    case TokenKind::string:
      string_literal(index);
      break;
    case TokenKind::regex: {
      if (now_->open) finish(true);
      Value pattern;
      pattern.kind = Value::Kind::pattern;
      pattern.text = source_of(at);
      begin_operand(at, pattern, put("/./", at));
      break;
    }
    case TokenKind::template_open:
    case TokenKind::template_text:
    case TokenKind::template_close:
    case TokenKind::substitution_open:
    case TokenKind::substitution_close:
      template_piece(index);
      break;
    case TokenKind::punctuator:
      punctuator(index);
      break;
    case TokenKind::markup_text:
      break;
  }
}

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
      const bool root = name_text == "process" || name_text == "Bun" || name_text == "globalThis" || name_text == "eval";
      if (root && now_->angles > 0 && before != "typeof" && before != ".") add_use("value", name_text, "<", at.begin, at.end);
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
    case Word::name:
      return false;
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
      if (text == "of" && now_->pattern_end != 0) bind_pattern(now_->pattern_first, now_->pattern_end, {}, Value{});
      if (text == "of" && !groups_.empty() && groups_.back().condition) groups_.back().loop_name = now_->pattern_end != 0 ? now_->pattern_first : now_->name_token;
      finish(text != "in" && text != "instanceof");
      put(text, at);
      now_->prefixed = false;
      now_->yielded = text == "yield";
      now_->lead = text == "return" || text == "throw" || text == "yield" ? 'r' : (text == "of" || text == "extends" ? 'o' : ';');
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
        skip_until_ = end;
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
  // Object.create(process).env
  const bool inherits_env = member_name == "env" && !owner.starts_with("process") && path_of(owner).starts_with("process");
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
    const bool own = member_name == "process" && !now_->word.empty() && now_->word == owner &&
                     is_member_of_own_object(now_->word, member_name);
    put(own ? std::string_view("_process") : member_name, at);
  }
  now_->receiver = now_->operand;
  now_->owner = now_->word;
  now_->method = member_name;
  now_->operand = Value{};
  if (now_->receiver.kind == Value::Kind::object && !now_->receiver.text.empty()) now_->qualified = now_->receiver.text;
  if (const Value* known = object_member(now_->receiver, member_name, lists_); known != nullptr) {
    if (known->kind == Value::Kind::path) {
      const Value path = *known;
      become(path, now_->operand_begin, at);
      return;
    }
    now_->operand = *known;
    now_->operand.lone = false;
  } else if (now_->receiver.is_text() && now_->receiver.text.find("://") != std::string_view::npos) {
    now_->operand = url_part(now_->receiver.text, member_name, lists_, arena_);
  }
  if (!now_->qualified.empty() && names_.has_properties() && now_->qualified.size() < 200) {
    now_->qualified = arena_.concat(arena_.concat(arena_.copy(now_->qualified), "."), member_name);
    const bool is_called = index_ + 1 < tokens_.size() && is_char(source_of(tokens_[index_ + 1]), '(');
    names_.note_use(now_->qualified, is_called ? NameTable::Use::callee : NameTable::Use::value);
    if (const Value* known = names_.constant(now_->qualified); known != nullptr) {
      if (known->kind == Value::Kind::path) {
        become(*known, now_->operand_begin, at);
        return;
      }
      now_->operand = *known;
    }
  } else {
    now_->qualified = {};
  }
  if (now_->operand.kind == Value::Kind::function && names_.function(now_->operand.list).getter) {
    now_->operand = call_function(now_->operand.list, {}, {now_->source_begin, at.end});
    if (now_->operand.kind == Value::Kind::path) {
      const Value path = now_->operand;
      become(path, now_->operand_begin, at);
      return;
    }
  }
  if (now_->tracked && member_name == "argv") now_->operand = runtime_arguments();
  // With a name, the name is followed.
  if (inherits_env && now_->qualified.empty()) add_use("value", "process.env", "=", at.begin, at.end);
  const auto is_text = [&](std::string_view text) {
    now_->operand.kind = Value::Kind::text;
    now_->operand.text = text;
  };
  if (now_->tracked && member_name == "sep") is_text("/");
  const bool address = member_name == "href" || (member_name == "pathname" && now_->operand.kind == Value::Kind::unknown);
  if (now_->receiver.is_text() && address) now_->operand = now_->receiver;
  // Where bun itself lies is bun, for whoever starts it.
  if (now_->tracked && (member_name == "execPath" || member_name == "argv0")) is_text("bun");
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
    note_declared(text);
    begin_operand(at, Value{}, put(text, at));
    now_->word = text;
    return;
  }
  const std::string_view before = index > 0 ? source_of(tokens_[index - 1]) : std::string_view();
  if (before == "class" && is_root_name(text)) {
    const std::string_view earlier = index > 1 ? source_of(tokens_[index - 2]) : std::string_view(";");
    if (is_char(earlier, ';') || is_char(earlier, '}') || is_char(earlier, '{') || earlier == "export") declare_shadow(text, index);
  }
  const bool after_brace = is_char(before, '{') || is_char(before, ',');
  // The names that a pattern declares are not uses of what they stand for.
  const bool in_pattern =
      !groups_.empty() && groups_.back().outer->annotated && index < groups_.back().outer->pattern_end;
  const bool is_key = (is_char(next, ':') && after_brace) || is_char(next, '=') || (in_pattern && (after_brace || is_char(before, ':')));
  Value value;
  std::string_view written = text;
  const NameTable::Meaning* meaning = is_key ? nullptr : names_.use(text, is_char(next, '(') ? NameTable::Use::callee : NameTable::Use::value);
  if (meaning != nullptr || (!is_key && !locals_.empty())) {
    if (meaning != nullptr && !meaning->aliases.empty()) {
      const std::vector<std::string>* const paths = &meaning->aliases;
      const std::size_t chosen = index == forced_token_ ? forced_index_ : 0;
      written = (*paths)[std::min(chosen, paths->size() - 1)];
      for (std::uint32_t i = 1; i < paths->size() && forced_token_ == UINT32_MAX; ++i) {
        if (other_meanings_.size() < kOtherMeaningsMax) {
          other_meanings_.push_back({index, i});
        } else {
          over_budget_ = true;  // there is no saying what the rest stands for
        }
      }
    }
    if (const Value* known = local(text); known != nullptr) {
      value = *known;
    } else if (meaning != nullptr && meaning->constant.kind != Value::Kind::unknown) {
      value = meaning->constant;
    }
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
  if (token.markup) {
    if (inner.find('&') != std::string_view::npos) value.text = arena_.copy(decode_character_references(inner));
  } else if (token.escaped) {
    value.text = arena_.copy(decode_escapes(inner));
  }
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
      if (groups_.back().tagged) add_template_part(piece, true);
      const Value sum = join_values(now_->sum, piece, arena_);
      if (!sum.is_text()) add_entry(callee_here(), piece.text, at.begin, at.end);  // too long to follow
      now_->sum = sum.is_text() ? sum : Value{};
      now_->sum.end = at.end;
      break;
    }
    case TokenKind::substitution_open:
      open_group('$', index);
      break;
    case TokenKind::substitution_close:
      close_group('$', index);
      break;
    default:
      close_group('`', index);
      break;
  }
}

// --- brackets ------------------------------------------------------------------------------------------------------

void ViewBuilder::open_group(char open, std::uint32_t index) {
  const Token& at = tokens_[index];
  if (groups_.size() >= kGroupsMax) {
    put(source_of(at), at);
    return;
  }
  if (open == '{' && index == closed_end_ && closed_end_ != 0) {
    shadow_parameters(index);
    name_function(index);
  } else if (open == '{' && is_typed_body(index)) {
    name_function(index);
  }
  const std::string_view scope = open == '{' ? scope_of_block(index) : std::string_view();
  Group& group = groups_.emplace_back();
  group.open = open;
  group.call = now_->open && !now_->in_type && (open == '(' || open == '[') && !now_->annotated;
  group.condition = open == '(' && !now_->open && index > 0 && tokens_[index - 1].kind == TokenKind::word &&
                    is_condition_word(source_of(tokens_[index - 1]));
  group.code_begin = code_.size();
  group.callee_begin = now_->open ? now_->operand_begin : code_.size();
  group.args_begin = args_.size();
  group.source_begin = at.begin;
  group.token = index;
  group.outer = now_;
  group.scope = scope;
  put(source_of(at), at);
  if (expressions_.size() <= groups_.size()) expressions_.emplace_back();
  now_ = &expressions_[groups_.size()];
  now_->reset(open == '$' ? '`' : open);
}

void ViewBuilder::close_group(char open, std::uint32_t index) {
  constexpr std::size_t kSearchMax = 64;
  const Token& at = tokens_[index];
  std::size_t depth = 0;
  while (depth < groups_.size() && depth < kSearchMax && groups_[groups_.size() - 1 - depth].open != open) ++depth;
  if (depth == groups_.size() || depth == kSearchMax) {
    finish(true);
    put(source_of(at), at);
    return;
  }
  for (; depth > 0; --depth) {
    finish(true);
    now_ = groups_.back().outer;
    args_.resize(groups_.back().args_begin);
    groups_.pop_back();
  }
  Group group = groups_.back();
  if (!shadows_.empty()) {
    const std::size_t depth_now = groups_.size();
    std::erase_if(shadows_, [&](const Shadow& shadow) {
      return shadow.end == UINT32_MAX ? shadow.depth >= depth_now && shadow.depth > 0 : shadow.end <= index;
    });
  }
  if (open == '(') {
    closed_first_ = group.token;
    closed_end_ = index + 1;
    closed_condition_ = group.condition;
  }
  switch (open) {
    case '(':
      if (group.call) {
        close_call(group, at);
      } else {
        close_plain(group, at);
      }
      break;
    case '[':
      close_square(group, at);
      break;
    case '{':
    case '$': {
      const Value total = finish(true);
      const Value object = open == '{' ? close_object(group) : Value{};
      groups_.pop_back();
      now_ = group.outer;
      put(source_of(at), at);
      if (open == '$') {
        args_.resize(std::min(args_.size(), group.args_begin));
        if (!groups_.empty() && groups_.back().tagged) add_template_part(total, false);
        if (!now_->sum.is_text()) break;
        Value unknown;
        unknown.begin = group.source_begin;
        unknown.end = at.end;
        Value part = total.is_text() || total.kind == Value::Kind::number ? total : unknown;
        part.end = at.end;
        const Value sum = join_values(now_->sum, part, arena_);
        now_->sum = sum.is_text() ? sum : Value{};
      } else if (!now_->in_type) {
        const std::uint32_t first = now_->pattern_first;
        const std::uint32_t end = now_->pattern_end;
        begin_operand(at, object, group.code_begin);
        now_->pattern_first = first;
        now_->pattern_end = end;
      }
      break;
    }
    default: {  // a template
      Value total = now_->sum;
      total.begin = group.source_begin;
      total.end = at.end;
      if (total.is_text()) add_entry(callee_here(), total.text, total.begin, total.end);
      groups_.pop_back();
      now_ = group.outer;
      put("`", at);
      total.lone = true;
      if (now_->in_type) break;
      if (group.tagged) {
        const std::string_view code = code_.text();
        const bool raw = code.substr(group.callee_begin, group.code_begin - group.callee_begin) == "String.raw";
        total.lone = false;
        Value given = raw ? total : call_tag(group, {group.source_begin, at.end});
        if (given.kind == Value::Kind::path) given = Value{};
        begin_operand(at, given, group.callee_begin);
      } else {
        begin_operand(at, total, group.code_begin);
      }
      break;
    }
  }
  if (open != '$') args_.resize(std::min(args_.size(), group.args_begin));
}

// (x), (x as T), (0, x): one operand needs no parentheses.
void ViewBuilder::close_plain(Group& group, const Token& at) {
  const std::size_t earlier = args_.size() - group.args_begin;
  const std::string_view code = code_.text();
  const std::size_t end = now_->type_begin != 0 ? now_->type_begin : code.size();
  const bool single = now_->open && !now_->has_sum && !now_->prefixed && !now_->opaque;
  const bool alone = earlier == 0 && now_->operand_begin == group.code_begin + 1;
  const bool behind_constant =
      earlier == 1 && (args_.back().kind == Value::Kind::text || args_.back().kind == Value::Kind::number);
  const bool unwrap =
      single && (alone || behind_constant) && end > now_->operand_begin && end - now_->operand_begin <= kOperandCodeMax;
  const std::string operand(unwrap ? code.substr(now_->operand_begin, end - now_->operand_begin) : std::string_view());
  const std::string_view single_word = single ? now_->word : std::string_view();
  const std::string_view word = alone ? single_word : std::string_view();
  const std::string_view qualified = alone ? now_->qualified : std::string_view();
  const std::string_view method = now_->method;
  const Value receiver = now_->receiver;
  const bool tracked = now_->tracked;
  const Value total = finish(true);
  if (!handed_roots_.empty()) {
    const std::uint32_t next = index_ + 1;
    const bool names = group.condition || unwrap || is_arrow_head(next, group.outer->lead == '?');
    if (names) {
      while (!handed_roots_.empty() && handed_roots_.back().group >= groups_.size()) handed_roots_.pop_back();
    } else {
      flush_handed_roots("", {});
    }
  }
  if (group.condition && groups_.back().loop_name != 0 && total.kind == Value::Kind::list) {
    loop_over(groups_.back().loop_name, total, index_ + 1, {group.source_begin, at.end});
  }
  groups_.pop_back();
  now_ = group.outer;
  if (now_->in_type || group.condition) {
    put(")", at);
    return;
  }
  Token place = at;
  place.begin = group.source_begin;
  if (unwrap) {
    code_.truncate(group.code_begin);
    const std::size_t begin = put(operand, place);
    begin_operand(place, total, begin);
    now_->word = word;
    now_->qualified = qualified;
    now_->tracked = tracked;
    now_->receiver = receiver;
    now_->method = method;
  } else {
    put(")", at);
    const bool begins = !now_->open;
    begin_operand(place, total, group.code_begin);
    become_alternative(group, total, begins ? single_word : std::string_view(), place);
  }
}

void ViewBuilder::close_call(Group& group, const Token& at) {
  if (now_->open || now_->has_sum || args_.size() > group.args_begin) end_argument();
  const std::span<const Value> args(args_.data() + group.args_begin, args_.size() - group.args_begin);
  // Kept beside the code view, which changes below.
  char buffers[2][kOperandCodeMax];
  const auto keep = [](std::string_view text, char* buffer) {
    const std::size_t size = std::min(text.size(), kOperandCodeMax);
    std::memcpy(buffer, text.data(), size);
    return std::string_view(buffer, size);
  };
  const std::string_view written =
      keep(std::string_view(code_.text()).substr(group.callee_begin, group.code_begin - group.callee_begin), buffers[0]);
  const std::string_view callee = keep(called(group), buffers[1]);
  // The arguments of what is called in the end.
  std::vector<Value> handed;
  if (callee != written) {
    const auto list_items = [&](std::size_t at_index) {
      if (args.size() > at_index && args[at_index].kind == Value::Kind::list) handed = lists_[args[at_index].list];
    };
    if (written.ends_with(".call")) {
      handed.assign(args.begin() + (args.empty() ? 0 : 1), args.end());
    } else if (written.ends_with(".apply")) {
      list_items(1);
    } else if (written == "Reflect.apply") {
      list_items(2);
    } else if (written == "Reflect.construct") {
      list_items(1);
    } else if (written.ends_with(".bind")) {
      handed.clear();
    } else {
      handed.assign(args.begin(), args.end());
    }
  }
  const std::span<const Value> args_in_the_end = callee != written ? std::span<const Value>(handed) : args;
  if (!handed_roots_.empty() && is_parameter_list(group)) {
    while (!handed_roots_.empty() && handed_roots_.back().group >= groups_.size()) handed_roots_.pop_back();
  } else if (!handed_roots_.empty()) {
    flush_handed_roots(written, args.size() > 1 && args[1].is_known_text() ? args[1].text : std::string_view());
  }
  // eval(x) { in a class is a method of that name.
  if (is_root_name(callee) && is_parameter_list(group) && group.callee_begin < code_.size()) {
    const std::string renamed = "_" + code_.text().substr(group.callee_begin);
    replace_code(group.callee_begin, renamed, group.outer->source_begin, at.end);
    groups_.pop_back();
    now_ = group.outer;
    now_->tracked = false;
    now_->operand = Value{};
    now_->operand_begin = code_.size() - renamed.size();
    now_->word = now_->qualified = now_->method = {};
    put(")", at);
    return;
  }
  // Making a function of text: x.constructor("..") without `new`, or with a text.
  if (callee.ends_with(".constructor") && !args.empty() && (!group.outer->made || args[0].is_text()) &&
      !is_parameter_list(group)) {
    add_use("call", ".constructor", args[0].is_text() ? "text" : "value", group.outer->source_begin, at.end);
  }
  const std::span<const Value> given = args_in_the_end;
  if (!given.empty() && given[0].kind == Value::Kind::list && (traits_of(callee) & kRunsCommand) != 0) {
    const std::vector<Value> items = lists_[given[0].list];
    add_command(items, given[0].begin, at.end);
  }
  // Texts that reach it through apply, bind or a list.
  if (callee != written) {
    for (const Value& value : given) {
      if (value.is_text()) add_entry(callee, value.text, group.source_begin, at.end);
    }
  }
  // A command and its words: spawn("npm", ["install"]), run("npm", "install").
  if (given.size() >= 2 && given[0].is_text()) {
    std::vector<Value> words = {given[0]};
    for (std::size_t i = 1; i < given.size() && i < 16; ++i) {
      if (given[i].kind == Value::Kind::list) {
        const std::vector<Value>& items = lists_[given[i].list];
        words.insert(words.end(), items.begin(), items.end());
        break;
      }
      if (!given[i].is_text()) break;
      words.push_back(given[i]);
    }
    add_command(words, given[0].begin, at.end);
  }
  Value result;
  const Expression& outer = *group.outer;
  const bool reduces = outer.receiver.kind == Value::Kind::list && outer.method.starts_with("reduce") && !args.empty() &&
                       args[0].kind == Value::Kind::function;
  const TextSpan place{outer.source_begin, at.end};
  if (reduces) result = call_known_function(group, args, at);
  if (outer.receiver.is_text() || outer.receiver.kind == Value::Kind::pattern) result = fold_with_pattern(outer, args, place);
  if (callee == "Array.from") result = made_list(given, place);
  const std::size_t lists_before = lists_.size();
  if (result.kind != Value::Kind::unknown) {
    // what the function of the file made of it
  } else if (outer.receiver.kind != Value::Kind::unknown && !outer.method.empty()) {
    result = fold_method(outer.receiver, outer.method, args, lists_, arena_);
  } else {
    if ((traits_of(callee) & kFolds) != 0) result = fold_function(callee, given, lists_, arena_);
  }
  const std::size_t lists_folded = lists_.size();
  if (result.kind == Value::Kind::unknown && !reduces) result = call_known_function(group, args, at);
  if (outer.made && result.kind == Value::Kind::unknown && names_.has_properties() && !outer.word.empty()) {
    result.kind = Value::Kind::object;  // an instance: its members are those of the class
    result.text = outer.word;
    result.list = static_cast<std::uint32_t>(lists_.size());
    lists_.emplace_back();
  }
  if (outer.method == "push" && outer.receiver.kind == Value::Kind::list && !outer.owner.empty()) {
    std::vector<Value> grown = lists_[outer.receiver.list];
    grown.insert(grown.end(), args.begin(), args.end());
    Value list = outer.receiver;
    list.list = static_cast<std::uint32_t>(lists_.size());
    if (grown.size() <= kListMax) {
      list_bytes_ += grown.size() * sizeof(Value);
      lists_.push_back(std::move(grown));
      give(outer.owner, list);
    }
  }
  if (callee.ends_with(".each") && args.size() == 1 && args[0].kind == Value::Kind::list) result = args[0];
  if (result.kind == Value::Kind::list) list_bytes_ += lists_[result.list].size() * sizeof(Value);
  for (std::size_t i = lists_before; i < lists_folded; ++i) list_bytes_ += lists_[i].size() * sizeof(Value);
  result.lone = false;
  result.begin = outer.receiver.kind != Value::Kind::unknown ? outer.receiver.begin : outer.source_begin;
  result.end = at.end;
  const Value first = given.empty() ? Value{} : given[0];
  const Value second = args.size() < 2 ? Value{} : args[1];
  groups_.pop_back();
  now_ = group.outer;
  now_->method = {};
  now_->receiver = Value{};
  now_->word = {};
  now_->qualified = {};
  now_->operand = result;
  if (load_module(group, callee, first, callee == written, at)) return;
  if (result.kind == Value::Kind::path) {
    put(")", at);
    become(result, group.callee_begin, at);
    return;
  }
  if (callee == "Reflect.get" && second.is_known_text() && is_identifier(second.text) &&
      group.first_arg_end > group.code_begin && group.first_arg_end - group.code_begin <= kOperandCodeMax) {
    const std::string target =
        without_global_object(code_.text().substr(group.code_begin + 1, group.first_arg_end - group.code_begin - 1) +
                              "." + std::string(second.text));
    replace_code(group.callee_begin, target, outer.source_begin, at.end);
    now_->operand_begin = group.callee_begin;
    now_->method = second.text;
    return;
  }
  // delete x.y
  const bool deletes = callee == "Reflect.deleteProperty" && second.is_known_text() && is_identifier(second.text);
  if (deletes && group.first_arg_end > group.code_begin && group.first_arg_end - group.code_begin <= kOperandCodeMax &&
      is_standard(callee)) {
    const std::string target = "delete " + code_.text().substr(group.code_begin + 1, group.first_arg_end - group.code_begin - 1) +
                               "." + std::string(second.text);
    replace_code(group.callee_begin, target, outer.source_begin, at.end);
    now_->operand_begin = group.callee_begin;
    return;
  }
  put(")", at);
  if (const std::string_view name = function_given(std::string_view(code_.text()).substr(group.callee_begin)); !name.empty()) {
    replace_code(group.callee_begin, std::string(name), outer.source_begin, at.end);
    now_->operand_begin = code_.size() - name.size();
  }
}

// require("x"), import("x"), createRequire(..)("x"): the name is shown, and the known globals stand for themselves.
bool ViewBuilder::load_module(const Group& group, std::string_view callee, const Value& specifier, bool direct,
                              const Token& at) {
  const bool masked = callee == "import" && masked_load_;
  if (callee == "import") masked_load_ = false;
  const bool by_name = callee == "require" || callee == "import" || callee.ends_with(".getBuiltinModule") || callee.ends_with(".require") || callee == "require.resolve";
  const bool by_result = callee.ends_with(")");
  if (masked || (!by_name && !by_result) || !specifier.is_text() || !is_plain_specifier(specifier.text)) return false;
  const std::string_view root = module_root(specifier.text);
  if (by_result && root.empty()) return false;
  note_module(specifier.text, specifier.begin, specifier.end);
  if (root == "process" || root == "Bun" || root == "console") {
    replace_code(group.callee_begin, root, group.outer->source_begin, at.end);
    now_->operand_begin = code_.size() - root.size();
    now_->word = {};
    return true;
  }
  const std::string shown = "(\"" + std::string(specifier.text) + "\")";
  if (!direct) {
    replace_code(group.callee_begin, std::string(callee) + shown, group.outer->source_begin, at.end);
    now_->operand_begin = group.callee_begin;
    return true;
  }
  code_.truncate(group.code_begin);
  write(code_, shown, specifier.begin, specifier.end);
  return true;
}

void ViewBuilder::close_square(Group& group, const Token& at) {
  if (now_->open || now_->has_sum || args_.size() > group.args_begin) end_argument();
  const std::span<const Value> args(args_.data() + group.args_begin, args_.size() - group.args_begin);
  if (!group.call) {
    Value list;
    if (args.size() <= kListMax) {
      list.kind = Value::Kind::list;
      list.list = static_cast<std::uint32_t>(lists_.size());
      list.begin = group.source_begin;
      list.end = at.end;
      lists_.emplace_back(args.begin(), args.end());
      add_command(args, group.source_begin, at.end);
    }
    groups_.pop_back();
    now_ = group.outer;
    put("]", at);
    if (!now_->in_type) {
      const std::uint32_t first = now_->pattern_first;
      const std::uint32_t end = now_->pattern_end;
      begin_operand(at, list, group.code_begin);
      now_->pattern_first = first;
      now_->pattern_end = end;
    }
    return;
  }
  const Value index = args.size() == 1 ? args[0] : Value{};
  groups_.pop_back();
  now_ = group.outer;
  if (index.kind == Value::Kind::number && now_->operand.kind == Value::Kind::list && !now_->has_sum) {
    const std::vector<Value>& items = lists_[now_->operand.list];
    Value item = index.number >= 0 && static_cast<std::size_t>(index.number) < items.size() ? items[static_cast<std::size_t>(index.number)] : Value{};
    put("]", at);
    if (item.kind == Value::Kind::path) {
      become(item, now_->operand_begin, at);
      return;
    }
    item.lone = false;
    item.begin = now_->operand.begin;
    item.end = at.end;
    if (const std::string_view name = function_given(std::string_view(code_.text()).substr(now_->operand_begin)); !name.empty()) {
      replace_code(now_->operand_begin, std::string(name), now_->source_begin, at.end);
      now_->operand_begin = code_.size() - name.size();
    }
    now_->operand = item;
    now_->method = {};
    now_->word = {};
    now_->qualified = {};
    return;
  }
  if (index.is_known_text() && is_identifier(index.text)) {
    code_.truncate(group.code_begin);
    write(code_, ".", group.source_begin, group.source_begin + 1);
    Token place = at;
    place.begin = group.source_begin;
    member(index.text, place);
    return;
  }
  if (!index.is_known_text()) note_computed_global(group, index_);
  if (is_symbol_of_global(group)) {
    code_.truncate(group.code_begin);
    write(code_, "[\"\"", group.source_begin, at.begin);
  }
  put("]", at);
  now_->receiver = now_->operand;
  now_->method = index.is_text() ? index.text : std::string_view();
  now_->operand = Value{};
  now_->word = {};
}

// --- punctuators ---------------------------------------------------------------------------------------------------

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
      const bool operand = next.kind != TokenKind::punctuator || next_text == "(" || next_text == "[" || next_text == "{" || next_text == "<";
      return operand ? i + 1 : 0;
    } else if (tokens_[i].kind != TokenKind::word && tokens_[i].kind != TokenKind::string && text != "." && text != "|" &&
               text != "&" && text != "," && text != "[" && text != "]") {
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
  if (!any || index >= tokens_.size() || tokens_[index].kind != TokenKind::word) return 0;
  for (++index; text(index) == "." || text(index) == "|"; index += 2) {
  }
  if (text(index) != "<") return index;
  std::uint32_t angles = 0;
  for (std::uint32_t i = index; i < index + 64 && i < tokens_.size(); ++i) {
    if (text(i) == "<") ++angles;
    if (text(i) == ">" && --angles == 0) return i + 1;
  }
  return 0;
}

std::uint32_t ViewBuilder::matching_bracket(std::uint32_t index) const noexcept {
  std::uint32_t depth = 0;
  const std::uint32_t limit = std::min(static_cast<std::uint32_t>(tokens_.size()), index + kLookAheadMax);
  for (std::uint32_t i = index; i < limit; ++i) {
    if (tokens_[i].kind != TokenKind::punctuator) continue;
    const std::string_view text = source_of(tokens_[i]);
    if (text == "{" || text == "[" || text == "(") ++depth;
    if ((text == "}" || text == "]" || text == ")") && --depth == 0) return i;
  }
  return 0;
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
    const bool goes_on = now_->angles > 0 ? code != packed_name(")") && code != packed_name(";") && code != packed_name("}") && code != packed_name("]")
                                         : c == '.' || c == '|' || c == '<' || (c == '&' && text.size() == 1) ||
                                               (c == '|' && text.size() == 1);
    if (goes_on && code != packed_name("(") && code != packed_name("[") && code != packed_name("{") && code != packed_name(")") && code != packed_name("]") && code != packed_name("}")) {
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
    case '(':
      open_group('(', index);
      return;
    case '[':
      if (now_->declares) {
        now_->declares = false;
        now_->pattern_first = index;
        now_->pattern_end = matching_bracket(index);
        if (now_->pattern_end == 0) now_->pattern_first = 0;
        now_->annotated = true;
        open_group('[', index);
        return;
      }
      // A block ends, a line ends, an array begins.
      if (now_->open && at.line_before && !code_.text().empty() && code_.text().back() == '}') finish(true);
      open_group('[', index);
      return;
    case '{': {
      if (now_->declares) {
        now_->declares = false;
        now_->pattern_first = index;
        now_->pattern_end = matching_bracket(index);
        if (now_->pattern_end == 0) now_->pattern_first = 0;
        now_->annotated = true;
      } else if (now_->open && !now_->in_type) {
        finish(true);
      }
      open_group('{', index);
      return;
    }
    case ')':
      close_group('(', index);
      return;
    case ']':
      close_group('[', index);
      return;
    case '}':
      close_group('{', index);
      return;
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
      if (!groups_.empty() && groups_.back().open == '{' && index > 0 &&
          (now_->lead == '{' || now_->lead == ',')) {
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
      if ((now_->lead == '(' || now_->lead == ',') && !groups_.empty() && groups_.back().open == '(') now_->compared = true;
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
      if (code == packed_name("+=") && !now_->word.empty() && !names_.assign(now_->word, Value{})) second_reading_ = true;
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
        const bool call = end != 0 && (is_char(source_of(tokens_[end]), '(') || tokens_[end].kind == TokenKind::template_open);
        if (call) {
          skip_until_ = end;
          return;
        }
      }
      // f<T>(x): type arguments; a comparison has no value either.
      break;
    default:
      break;
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

// --- imports -------------------------------------------------------------------------------------------------------

// Writes the clause of an import statement and takes its names. Gives the index behind it, or the index behind `import`
// where no clause follows.
std::uint32_t ViewBuilder::import_clause(std::uint32_t index) {
  const std::uint32_t limit = static_cast<std::uint32_t>(tokens_.size());
  const auto text = [&](std::uint32_t i) { return i < limit ? source_of(tokens_[i]) : std::string_view(); };
  std::uint32_t string_at = index + 1;
  const auto is_specifier = [&](std::uint32_t i) {
    return tokens_[i].kind == TokenKind::string && (i == index + 1 || text(i - 1) == "from");
  };
  while (string_at < limit && !is_specifier(string_at)) {
    const TokenKind kind = tokens_[string_at].kind;
    const std::string_view t = text(string_at);
    const bool in_clause = kind == TokenKind::word || kind == TokenKind::string || t == "{" || t == "}" || t == "," || t == "*";
    if (!in_clause) return index + 1;
    ++string_at;
  }
  if (string_at >= limit) return index + 1;
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
      if (!is_test_module(specifier.text)) note_declared(word_text);
    }
    if (root.empty() && !type_only && at.kind == TokenKind::word && groups_.empty() && text(i + 1) != "as" &&
        text(i - 1) != "type") {
      declare_shadow(word_text, index);  // from a package or a file: not the global of that name
    }
    if (root.empty() || type_only || (at.kind != TokenKind::word && at.kind != TokenKind::string)) continue;
    const std::string_view before = i > index + 1 ? text(i - 1) : std::string_view();
    const std::string_view behind = text(i + 1);
    const bool renames = behind == "as" && i + 2 < string_at;
    bool is_new = true;
    if (before.empty() && (behind == "from" || behind == ",")) {
      is_new = names_.add_alias(word_text, root);
    } else if (before == "as" && i >= 2 && text(i - 2) == "*") {
      is_new = names_.add_alias(word_text, root);
    } else if (before == "{" || before == "," || (before == "type" && text(i - 2) != "import")) {
      const std::string_view local = renames ? text(i + 2) : word_text;
      if (word_text == "type" && !renames && behind != "," && behind != "}") continue;
      const std::string target =
          word_text == "default" ? std::string(root) : std::string(root) + "." + std::string(word_text);
      if (word_text != "default") note_member(root, word_text, at.begin, at.end);
      is_new = names_.add_alias(local, target);
    }
    if (!is_new) second_reading_ = true;
  }
  add_entry("import", specifier.text, specifier_token.begin, specifier_token.end);
  if (!type_only) note_module(specifier.text, specifier_token.begin, specifier_token.end);
  const bool shown = !type_only && is_plain_specifier(specifier.text);
  put(shown ? "\"" + std::string(specifier.text) + "\"" : std::string("\"\""), specifier_token);
  begin_operand(specifier_token, Value{}, code_.size());
  return string_at + 1;
}

}  // namespace guard
