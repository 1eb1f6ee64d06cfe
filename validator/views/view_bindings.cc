// The part of the view builder that follows values through names, patterns and properties. It never guesses: what it
// can't follow stays unknown, and the rules on uses judge it.
#include <algorithm>
#include <array>
#include <string>

#include "validator/views/view_builder.h"

namespace guard {
namespace {

constexpr std::size_t kPathMax = 256;
// A name that can be given a meaning: `#x` of a class, too.
bool is_bindable(std::string_view name) noexcept {
  if (name.starts_with('#')) name.remove_prefix(1);
  return is_identifier(name);
}

// Where the first call of `code` ends, or 0. Strings in `code` are masked.
std::size_t call_end(std::string_view code) noexcept {
  std::size_t depth = 0;
  for (std::size_t i = code.find('('); i < code.size(); ++i) {
    if (code[i] == '(') ++depth;
    if (code[i] == ')' && --depth == 0) return i + 1;
  }
  return 0;
}

}  // namespace

// --- paths ---------------------------------------------------------------------------------------------------------

// `code` as a path of a tracked global or module, or empty.
std::string_view ViewBuilder::path_of(std::string_view code) const {
  if (code.empty() || code.size() > kPathMax) return {};
  for (const std::string_view loader :
      {"require(\"", "import(\"", "process.getBuiltinModule(\"", "module.require(\"", "import.meta.require(\""}) {
    if (!code.starts_with(loader)) continue;
    const std::size_t close = code.find("\")", loader.size());
    if (close == std::string_view::npos) return {};
    const std::string_view root = module_root(code.substr(loader.size(), close - loader.size()));
    if (root.empty()) return {};
    std::string_view rest = code.substr(close + 2);
    if (rest.starts_with(".default")) rest.remove_prefix(8);
    const std::string_view whole = arena_.concat(arena_.copy(root), rest);
    return is_tracked_path(whole) ? whole : std::string_view();
  }
  if (code.ends_with(".constructor")) return "%.constructor";
  for (const std::string_view head : {"promisify(", "util.promisify("}) {
    if (!code.starts_with(head) || code.back() != ')') continue;
    const std::string_view inner = code.substr(head.size(), code.size() - head.size() - 1);
    if (is_tracked_path(inner)) return arena_.copy(inner);
  }
  // What inherits from a root is followed as the root.
  constexpr std::string_view kCreate = "Object.create(";
  if (code.starts_with(kCreate)) {
    const std::string_view rest = code.substr(kCreate.size());
    const std::string_view first = rest.substr(0, rest.find_first_of(",)"));
    for (const std::string_view root : {"process", "Bun", "globalThis", "global", "fs"}) {
      if (first == root && first.size() < rest.size()) return root;
    }
  }
  if (code.back() == ')') {
    // What it gives is `require`; what that gives is a module: createRequire(..)("./a").
    if (code.starts_with("module.createRequire(") || code.starts_with("createRequire(")) {
      const std::string_view rest = code.substr(std::min(call_end(code), code.size()));
      return rest.starts_with("(\"") && rest.find("\")") == rest.size() - 2 ? std::string_view() : "require";
    }
    if (code.starts_with("Bun.file(")) return "Bun.file";
  }
  return is_tracked_path(code) ? code : std::string_view();
}

// The operand as a path of a tracked global or module, or empty.
std::string_view ViewBuilder::path_of_operand() const {
  const std::string_view code = code_.text();
  const std::size_t end = now_->type_begin != 0 ? now_->type_begin : code.size();
  if (end <= now_->operand_begin || end - now_->operand_begin > kPathMax) return {};
  return path_of(code.substr(now_->operand_begin, end - now_->operand_begin));
}

// --- names ---------------------------------------------------------------------------------------------------------

// `name` was given what `path` names.
void ViewBuilder::add_alias(std::string_view name, std::string_view path, std::uint32_t begin, std::uint32_t end) {
  if (!is_bindable(name)) return;
  const std::size_t dot = path.find('.');
  // globalThis.process is process.
  if (dot != std::string_view::npos && is_global_object(path.substr(0, dot)) && is_tracked_path(path.substr(dot + 1))) {
    path.remove_prefix(dot + 1);
  }
  if (!names_.add_alias(name, path)) add_use("value", path, "=", begin, end);
}

// object.key, as the name table knows it; empty where that would be long.
std::string_view ViewBuilder::property_name(std::string_view object, std::string_view key) {
  constexpr std::size_t kLongest = 200;
  if (object.empty() || key.empty() || object.size() + key.size() > kLongest) return {};
  return arena_.concat(arena_.concat(arena_.copy(object), "."), key);
}

// { a: value } of an object that has a name.
void ViewBuilder::name_property(const Value& value) {
  if (groups_.empty() || groups_.back().open != '{' || groups_.back().scope.empty()) return;
  std::string_view key = groups_.back().key;
  groups_.back().key = {};
  Value kept = value;
  kept.lone = false;
  // $`${{ raw: ".." }}` is not quoted.
  if (key == "raw" && value.is_text()) add_commands("Bun.$", value.text, false, value.begin, value.end);
  // { process: new Job() } has nothing to do with the global of that name.
  if (value.kind == Value::Kind::unknown && now_->made && !now_->tracked && is_root_name(key)) {
    kept.kind = Value::Kind::own;
  }
  if (kept.kind == Value::Kind::unknown) return;
  names_.set_has_properties();
  names_.assign(property_name(groups_.back().scope, key), kept);
}

// The name under which the members of the object at `index` are known.
std::string_view ViewBuilder::scope_of_object() {
  if (now_->open || now_->has_sum) return {};
  if (now_->lead == '=') return now_->declared;
  if (now_->lead != ':' || groups_.empty()) return {};
  return property_name(groups_.back().scope, groups_.back().key);
}

// --- patterns ------------------------------------------------------------------------------------------------------

// { a, b: c = 1, ["d"]: e, f: { g }, ...rest }: tokens first to end, which are its brackets. Taken apart is `path`, or
// the object of the file that is known as `object`.
void ViewBuilder::bind_pattern(
    std::uint32_t first, std::uint32_t end, std::string_view path_view, std::string_view object) {
  if (end >= tokens_.size() || first >= end || source_of(tokens_[first]) != "{") return;
  const std::string path(path_view);
  const auto text = [&](std::uint32_t i) { return i < end ? source_of(tokens_[i]) : std::string_view(); };
  std::uint32_t i = first + 1;
  while (i < end) {
    const Token& at = tokens_[i];
    if (text(i) == "...") {
      if (!path.empty()) add_alias(text(i + 1), path, at.begin, at.end);
      return;
    }
    std::string_view key;
    if (text(i) == "[") {
      const std::uint32_t close = matching_bracket(i);
      if (close == 0 || close >= end) return;
      const Value* const constant = close == i + 2 ? names_.constant(text(i + 1)) : nullptr;
      if (close == i + 2 && tokens_[i + 1].kind == TokenKind::string) {
        key = literal_value(tokens_[i + 1]).text;
      } else if (constant != nullptr && constant->is_known_text()) {
        key = constant->text;
      } else if (!path.empty()) {
        add_use("value", path, "[", at.begin, tokens_[close].end);
      }
      i = close + 1;
    } else {
      key = at.kind == TokenKind::string ? literal_value(at).text : source_of(at);
      if (at.kind == TokenKind::word && at.escaped) key = arena_.copy(decode_identifier(key));
      ++i;
    }
    std::string target;
    if (key == "constructor") {
      target = "%.constructor";
    } else if (!path.empty() && is_bindable(key)) {
      target = key == "default" ? path : path + "." + std::string(key);
      if (key != "default") note_member(path, key, at.begin, at.end);
    }
    const std::string_view member = property_name(object, key);
    std::string_view name = key;
    if (text(i) == ":") {
      name = text(++i);
      if (name == "{" || name == "[") {
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
      bind_name(name, Value(*known), at);
    }
    // To the next comma of this pattern, over a default value.
    std::uint32_t depth = 0;
    while (i < end) {
      const std::string_view t = text(i);
      if (t == "{" || t == "[" || t == "(") ++depth;
      if (t == "}" || t == "]" || t == ")") --depth;
      ++i;
      if (t == "," && depth == 0) break;
    }
  }
}

// `name` was given `value`.
void ViewBuilder::bind_name(std::string_view name, const Value& value, const Token& at) {
  if (value.kind == Value::Kind::path) {
    add_alias(name, value.text, at.begin, at.end);
  } else {
    names_.assign(name, value);
  }
}

// --- functions -----------------------------------------------------------------------------------------------------

// `=>` at index: what stood before are parameters, what follows is the body.
void ViewBuilder::arrow(std::uint32_t index) {
  const Token& at = tokens_[index];
  const bool single = index > 0 && tokens_[index - 1].kind == TokenKind::word;
  const std::uint32_t first = single ? index - 1 : closed_first_ + 1;
  const std::uint32_t end = single ? index : (closed_end_ > 0 ? closed_end_ - 1 : 0);
  const std::string_view declared = now_->declared;
  const bool declaration = now_->declaration;
  const bool ambient = now_->ambient;
  const std::uint32_t name_token = now_->name_token;
  const char lead = now_->lead;
  const bool in_call = !groups_.empty() && groups_.back().open == '(' && groups_.back().call;
  // import("fs").then(({ rmSync }) => ..)
  if (in_call && (lead == '(' || lead == ',')) {
    const std::string_view code = code_.text();
    std::string_view callee =
        code.substr(groups_.back().callee_begin, groups_.back().code_begin - groups_.back().callee_begin);
    if (callee.ends_with(".then")) {
      const std::string_view path = path_of(callee.substr(0, callee.size() - 5));
      if (!path.empty() && first < end) {
        if (tokens_[first].kind == TokenKind::word) {
          add_alias(source_of(tokens_[first]), path, at.begin, at.end);
        } else {
          bind_pattern(first, matching_bracket(first), path, {});
        }
      }
    }
  }
  now_->compared = true;
  now_->declared = {};
  now_->pattern_end = 0;
  finish(true);
  put("=>", at);
  now_->lead = lead == ':' ? ':' : '>';
  if (!declared.empty()) names_.assign(declared, Value{});
  if (!declared.empty() && declaration && !ambient) declare_shadow(declared, name_token);
  if (index + 1 < tokens_.size()) shadow_parameters(index + 1);
}

// function name(..) { at index
void ViewBuilder::name_function(std::uint32_t index) {
  const std::uint32_t open = closed_first_;
  if (open < 2 || tokens_[open - 1].kind != TokenKind::word) return;
  const std::string_view before_name = source_of(tokens_[open - 2]);
  if (before_name != "function" && (before_name != "*" || source_of(tokens_[open - 3]) != "function")) return;
  const std::string_view name = source_of(tokens_[open - 1]);
  names_.note_declared(name);
  names_.assign(name, Value{});
  // As a statement it hides a global of its name. `function f(): T;` without a body does not.
  const std::string_view before = open >= 3 ? source_of(tokens_[open - 3]) : std::string_view(";");
  if (before == ";" || before == "}" || before == "{" || before == "export") declare_shadow(name, index);
}

// The operand, whose code began at code_begin, turned out to be this path.
void ViewBuilder::replace_operand(const Value& path, std::size_t code_begin, const Token& at) {
  const std::string text(path.text);
  replace_code(code_begin, text, now_->source_begin, at.end);
  now_->operand_begin = code_.size() - text.size();
  now_->operand = Value{};
  now_->operand.begin = now_->source_begin;
  now_->operand.end = at.end;
  now_->tracked = true;
  now_->open = true;
  now_->word = {};
  now_->qualified = {};
  now_->method = {};
  now_->receiver = Value{};
}

}  // namespace guard
