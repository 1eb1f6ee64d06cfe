// The part of the token reader that follows values through names, patterns, properties and imports. It never guesses:
// what it can't follow stays unknown, and the rules on uses judge it.
#include <algorithm>
#include <string>

#include "rules/surface.h"
#include "validator/values/known_names.h"
#include "validator/views/token_reader.h"

namespace guard {
namespace {

constexpr std::uint64_t kLookAheadFactor = 8;  // of all tokens, for all scopes and clauses together

// A name that can be given a meaning: `#x` of a class, too.
bool is_bindable(std::string_view name) noexcept {
  if (name.starts_with('#')) name.remove_prefix(1);
  return is_identifier(name);
}

bool opens(std::string_view text) noexcept { return text == "(" || text == "[" || text == "{"; }
bool shuts(std::string_view text) noexcept { return text == ")" || text == "]" || text == "}"; }

}  // namespace

// The expression that ends is given to its target.
void TokenReader::bind(const Value& total, bool last) {
  const Expression& e = now();
  const Target& target = e.target;
  const std::string_view path = e.alone() ? e.operand.path : std::string_view();
  if (!target.declared.empty()) {
    const bool has_value = total.kind != Value::Kind::unknown && total.kind != Value::Kind::path && !e.opaque;
    if (has_value || last) {
      Value value = has_value ? total : Value{};
      value.lone = false;  // where the name is used, the text is handed to another function
      names_.assign(target.declared, value);
    }
    if (!path.empty())
      add_alias(target.declared, path, e.operand.begin, std::max(e.operand.value.end, e.operand.begin + 1));
    if (path.empty() && last && target.declaration && !target.ambient && !e.opaque && (e.open || e.has_sum))
      declare_shadow(target.declared, target.name_token);
  }
  if (target.pattern_end != 0)
    bind_pattern(target.pattern_first, target.pattern_end, path, e.alone() ? e.operand.own : std::string_view());
}

// `name` was given what `path` names.
void TokenReader::add_alias(std::string_view name, std::string_view path, std::uint32_t begin, std::uint32_t end) {
  if (!is_bindable(name)) return;
  const std::size_t dot = path.find('.');
  // globalThis.process is process.
  if (dot != std::string_view::npos && is_global_object(path.substr(0, dot)) && is_tracked_path(path.substr(dot + 1)))
    path.remove_prefix(dot + 1);
  if (!names_.add_alias(name, path)) writer_.add_use("value", path, "=", begin, end);
}

// --- properties of constant objects --------------------------------------------------------------------------------

// object.key, as the name table knows it; empty where that would be long.
std::string_view TokenReader::property_name(std::string_view object, std::string_view key) {
  constexpr std::size_t kLongest = 200;
  if (object.empty() || key.empty() || object.size() + key.size() > kLongest) return {};
  return arena_.concat(arena_.concat(arena_.copy(object), "."), key);
}

// { a: value } of an object that has a name.
void TokenReader::name_property(const Value& value) {
  if (frame_->open != '{' || frame_->scope.empty()) return;
  const std::string_view key = frame_->key;
  frame_->key = {};
  Value kept = value;
  kept.lone = false;
  // $`${{ raw: ".." }}` is not quoted.
  if (key == "raw" && value.is_text()) writer_.add_commands("Bun.$", value.text, true, value.begin, value.end);
  // { process: new Job() } has nothing to do with the global of that name.
  if (value.kind == Value::Kind::unknown && now().made && !(now().open && now().operand.tracked) && is_root_name(key))
    kept.kind = Value::Kind::own;
  if (kept.kind == Value::Kind::unknown) return;
  names_.set_has_properties();
  names_.assign(property_name(frame_->scope, key), kept);
}

// The name under which the members of the object that begins here are known.
std::string_view TokenReader::scope_of_object() {
  const Expression& e = now();
  if (e.open || e.has_sum) return {};
  if (e.lead == '=') return e.target.declared;
  return e.lead == ':' ? property_name(frame_->scope, frame_->key) : std::string_view();
}

// --- patterns ------------------------------------------------------------------------------------------------------

// The key at token i, which is then behind it; empty if it is not known. Of `path` a key that is computed is told.
std::string_view TokenReader::pattern_key(std::uint32_t& i, std::uint32_t end, std::string_view path) {
  const Token& at = tokens_[i];
  if (text_at(i) != "[") {
    const std::string_view key = at.kind == TokenKind::string ? literal_value(at).text : word_at(i);
    ++i;
    return key;
  }
  const std::uint32_t close = matching_bracket(i);
  const std::uint32_t inner = i + 1;
  i = close == 0 ? end : close + 1;
  const bool single = close == inner + 1;
  if (single && tokens_[inner].kind == TokenKind::string) return literal_value(tokens_[inner]).text;
  const Value* const constant = single ? names_.constant(text_at(inner)) : nullptr;
  if (constant != nullptr && constant->is_known_text()) return constant->text;
  if (close != 0 && !path.empty()) writer_.add_use("value", path, "[", at.begin, tokens_[close].end);
  return {};
}

// { a, b: c = 1, ["d"]: e, f: { g }, ...rest }: tokens first to end, which are its brackets. Taken apart is `path`, or
// the object of the file that is known as `object`.
void TokenReader::bind_pattern(std::uint32_t first, std::uint32_t end, std::string_view path, std::string_view object) {
  if (end >= tokens_.size() || first >= end || text_at(first) != "{") return;
  for (std::uint32_t i = first + 1; i < end;) {
    const Token& at = tokens_[i];
    if (text_at(i) == "...") {
      if (!path.empty()) add_alias(text_at(i + 1), path, at.begin, at.end);
      return;
    }
    const std::string_view key = pattern_key(i, end, path);
    const std::string_view target =
        key == "constructor" || is_bindable(key) ? member_path(path, key, arena_) : std::string_view();
    if (!path.empty() && key != "constructor" && key != "default" && is_bindable(key))
      note_member(path, key, at.begin, at.end);
    const std::string_view member = property_name(object, key);
    std::string_view name = key;
    if (i < end && text_at(i) == ":") {
      name = text_at(++i);
      if (opens(name)) {
        const std::uint32_t close = matching_bracket(i);
        if (close == 0 || close >= end) return;
        bind_pattern(i, close, target, member);
        i = close;
        name = {};
      }
      ++i;
    }
    if (!target.empty()) add_alias(name, target, at.begin, at.end);
    if (const Value* const known = names_.constant(member); known != nullptr && is_bindable(name)) {
      const Value value = *known;
      if (value.kind == Value::Kind::path) {
        add_alias(name, value.text, at.begin, at.end);
      } else {
        names_.assign(name, value);
      }
    }
    // To the next comma of this pattern, over a default value.
    std::uint32_t depth = 0;
    while (i < end) {
      const std::string_view t = text_at(i++);
      if (opens(t)) ++depth;
      if (shuts(t)) --depth;
      if (t == "," && depth == 0) break;
    }
  }
}

// --- imports -------------------------------------------------------------------------------------------------------

// An import statement: writes its clause and takes its names. Without a module's name behind it `import` is a word.
void TokenReader::import_clause() {
  const std::uint32_t first = at_ + 1;
  std::uint32_t end = first;
  put(tokens_[at_]);
  at_ = first;
  for (;; ++end) {
    if (++looked_ahead_ > kLookAheadFactor * tokens_.size()) over_budget_ = true;
    if (end >= tokens_.size() || over_budget_) return;
    const std::string_view t = text_at(end);
    const TokenKind kind = tokens_[end].kind;
    if (kind == TokenKind::string && (end == first || text_at(end - 1) == "from")) break;
    const bool in_clause =
        kind == TokenKind::word || kind == TokenKind::string || t == "{" || t == "}" || t == "," || t == "*";
    if (!in_clause || (t == "import" && text_at(end + 1) != "as")) return;
  }
  const Token& specifier_token = tokens_[end];
  const Value specifier = literal_value(specifier_token);
  // `import type X from "m"` loads nothing; `import type from "m"` and `import type, {x} from "m"` do.
  const bool type_only = text_at(first) == "type" && text_at(first + 1) != "," &&
      (text_at(first + 1) != "from" || text_at(first + 2) == "from");
  const std::string_view root = module_root(specifier.text);
  for (std::uint32_t i = first; i < end; ++i) {
    const Token& at = tokens_[i];
    const std::string_view written = at.kind == TokenKind::string ? literal_value(at).text : word_at(i);
    writer_.put(at.kind == TokenKind::string && !is_identifier(written) ? "\"\"" : written, at);
    if (type_only || text_at(i + 1) == "as") continue;
    if (root.empty() && at.kind == TokenKind::word && depth_ == 0) {
      // From a package or a file: not the global of that name.
      if (!is_word_of("test_modules", specifier.text)) names_.note_declared(written);
      if (text_at(i - 1) != "type") declare_shadow(written, i);
    }
    if (!root.empty()) import_name(i, first, root);
  }
  writer_.add_string("import", specifier.text, specifier_token.begin, specifier_token.end);
  if (!type_only) note_module(specifier.text, specifier_token.begin, specifier_token.end);
  const bool shown = !type_only && is_plain_specifier(specifier.text);
  writer_.put(shown ? "\"" + std::string(specifier.text) + "\"" : "\"\"", specifier_token);
  begin_operand(unknown_at(specifier_token.begin, specifier_token.end), "\"\"", writer_.code_size());
  at_ = end + 1;
  note_attributes(at_, specifier);
}

// The local name at `index` of a clause that begins at `first`: a, * as a, { a }, { b as a }.
void TokenReader::import_name(std::uint32_t index, std::uint32_t first, std::string_view root) {
  const Token& at = tokens_[index];
  if (at.kind != TokenKind::word && at.kind != TokenKind::string) return;
  const bool renamed = index >= first + 2 && text_at(index - 1) == "as";
  const std::uint32_t imported = renamed ? index - 2 : index;
  const std::string_view before = imported > first ? text_at(imported - 1) : std::string_view();
  if (renamed && text_at(imported) == "*") {
    add_alias(word_at(index), root, at.begin, at.end);
    return;
  }
  if (before.empty()) {
    if (text_at(index + 1) == "from" || text_at(index + 1) == ",") add_alias(word_at(index), root, at.begin, at.end);
    return;
  }
  if (before != "{" && before != "," && before != "type") return;
  const std::string_view next = text_at(index + 1);
  const std::string_view key =
      tokens_[imported].kind == TokenKind::string ? literal_value(tokens_[imported]).text : word_at(imported);
  if (key == "type" && !renamed && next != "," && next != "}") return;
  if (key != "default") note_member(root, key, tokens_[imported].begin, tokens_[imported].end);
  add_alias(word_at(index), member_path(root, key, arena_), tokens_[imported].begin, tokens_[imported].end);
}

// --- names that hide globals ---------------------------------------------------------------------------------------

// What the file declares itself is not the global of that name, as far as the scope goes. Only what is sure counts: a
// declaration in the same block and before the use, or a parameter of a function whose end was found.
bool TokenReader::is_shadowed(std::string_view name) const noexcept {
  return std::any_of(shadows_.begin(), shadows_.end(),
      [&](const Shadow& shadow) { return shadow.name == name && at_ >= shadow.first && at_ < shadow.end; });
}

void TokenReader::declare_shadow(std::string_view name, std::uint32_t first, std::uint32_t end) {
  constexpr std::size_t kShadowsMax = 64;
  if (!is_tracked_path(name) || name == "eval" || name == "Function" || name == "import") return;
  const bool in_block = frame_->outer == nullptr || frame_->open == '{';
  if (end == UINT32_MAX && !in_block) return;
  std::erase_if(shadows_, [&](const Shadow& shadow) { return shadow.end <= at_; });
  if (shadows_.size() < kShadowsMax) shadows_.push_back({name, first, end});
}

// function name(..) { at the brace
void TokenReader::name_function() {
  const std::uint32_t open = closed_first_;
  if (open < 2 || !is_word(open - 1)) return;
  const std::string_view before_name = text_at(open - 2);
  if (before_name != "function" && (before_name != "*" || open < 3 || text_at(open - 3) != "function")) return;
  const std::string_view name = text_at(open - 1);
  names_.note_declared(name);
  names_.assign(name, Value{});
  // As a statement it hides a global of its name. `function f(): T;` without a body does not.
  const std::string_view before = open >= 3 ? text_at(open - 3) : std::string_view(";");
  if (before == ";" || before == "}" || before == "{" || before == "export") declare_shadow(name, at_);
}

// The token behind the scope that begins at `index`: a block, or the expression of an arrow function. 0 if unknown.
std::uint32_t TokenReader::scope_end(std::uint32_t index) {
  constexpr std::uint32_t kScopeLookAheadMax = 200'000;
  std::uint32_t depth = 0;
  const bool block = text_at(index) == "{";
  const auto limit = static_cast<std::uint32_t>(std::min<std::size_t>(tokens_.size(), index + kScopeLookAheadMax));
  for (std::uint32_t i = index; i < limit; ++i) {
    if (++looked_ahead_ > kLookAheadFactor * tokens_.size()) return 0;
    const Token& at = tokens_[i];
    // Without a semicolon the expression ends with its line at the latest.
    if (!block && depth == 0 && i > index && at.line_before) return i;
    const std::string_view text = text_at(i);
    if (at.kind == TokenKind::substitution_open || (at.kind == TokenKind::punctuator && opens(text))) {
      ++depth;
    } else if (at.kind == TokenKind::substitution_close || (at.kind == TokenKind::punctuator && shuts(text))) {
      if (depth == 0) return block ? 0 : i;
      if (--depth == 0 && block) return i + 1;
    } else if (!block && depth == 0 && at.kind == TokenKind::punctuator && (text == "," || text == ";")) {
      return i;
    }
  }
  return !block && limit == tokens_.size() ? limit : 0;
}

// `body` is the first token of a function's body; its parameters stand in the round bracket that was closed last, or
// are the one word before `=>`.
void TokenReader::shadow_parameters(std::uint32_t body) {
  const auto hide = [&](std::uint32_t index) {
    const std::string_view name = text_at(index);
    if (!is_word(index) || !is_tracked_path(name)) return;
    if (const std::uint32_t end = scope_end(body); end != 0) declare_shadow(name, body, end);
  };
  if (body < 2 || body >= tokens_.size()) return;
  if (text_at(body - 1) == "=>" && is_word(body - 2)) {
    hide(body - 2);
    return;
  }
  constexpr std::uint32_t kParametersMax = 400;  // tokens
  constexpr std::uint32_t kTypeMax = 64;         // a longer type may hide a default value: not hidden then
  std::uint32_t depth = 0;
  for (std::uint32_t i = closed_first_; i + 1 < closed_end_ && i < closed_first_ + kParametersMax; ++i) {
    const std::string_view text = text_at(i);
    // ({ constructor: C }) => C("..")
    if (text == "{" && depth == 1 && (text_at(i - 1) == "(" || text_at(i - 1) == ","))
      bind_pattern(i, matching_bracket(i), {}, {});
    if (opens(text)) ++depth;
    if (shuts(text)) --depth;
    if (closed_condition_ || depth != 1 || (text != "(" && text != ",") || !is_word(i + 1) || i + 2 >= closed_end_)
      continue;
    // A default value may be the global itself.
    std::uint32_t end = i + 2;
    if (text_at(end) == ":" || text_at(end) == "?") {
      while (end < closed_end_ && end <= i + 2 + kTypeMax && text_at(end) != "," && text_at(end) != "=") ++end;
      if (end <= i + 2 + kTypeMax && text_at(end) != "=") hide(i + 1);
    } else if (text_at(end) == "," || text_at(end) == ")") {
      hide(i + 1);
    }
  }
}

}  // namespace guard
