// The part of the view builder that follows values through names, patterns, properties and calls of functions of the
// file. It never guesses: what it can't follow stays unknown, and the rules on uses judge it.
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

// Methods of an emitter give the emitter: process.on("x", f).
bool ViewBuilder::gives_process() const noexcept {
  const std::string_view code = std::string_view(code_.text()).substr(now_->operand_begin);
  if (!code.starts_with("process.") || code.back() != ')') return false;
  static constexpr std::array<std::string_view, 9> kMethods = {"on(", "once(", "off(", "addListener(",
      "removeListener(", "prependListener(", "prependOnceListener(", "setMaxListeners(", "removeAllListeners("};
  return std::any_of(
      kMethods.begin(), kMethods.end(), [&](std::string_view method) { return code.substr(8).starts_with(method); });
}

// The operand as a path of a tracked global or module, or empty.
std::string_view ViewBuilder::path_of_operand() const {
  const std::string_view code = code_.text();
  const std::size_t end = now_->type_begin != 0 ? now_->type_begin : code.size();
  if (end <= now_->operand_begin || end - now_->operand_begin > kPathMax) return {};
  return path_of(code.substr(now_->operand_begin, end - now_->operand_begin));
}

// --- names ---------------------------------------------------------------------------------------------------------

// False if the name was used before it was known.
bool ViewBuilder::give(std::string_view name, const Value& value) {
  const bool in_time = names_.assign(name, value);
  return give_member(name, value) && in_time;
}

// enum, namespace and class members: Name.member
bool ViewBuilder::give_member(std::string_view name, const Value& value) {
  bool in_time = true;
  if (!groups_.empty() && groups_.back().open == '{' && !groups_.back().scope.empty() &&
      value.kind != Value::Kind::unknown) {
    const std::string_view scope = groups_.back().scope;
    names_.set_has_properties();
    const std::string_view full = arena_.concat(arena_.concat(arena_.copy(scope), "."), name);
    in_time = names_.assign(full, value);
    in_time = names_.assign(arena_.concat(arena_.copy("this."), name), value) && in_time;
  }
  return in_time;
}

bool ViewBuilder::add_meaning(std::string_view name, std::string_view path) {
  if (!is_bindable(name)) return true;
  const std::size_t dot = path.find('.');
  // globalThis.process is process.
  if (dot != std::string_view::npos && is_global_object(path.substr(0, dot)) && is_tracked_path(path.substr(dot + 1))) {
    path.remove_prefix(dot + 1);
  }
  return names_.add_alias(name, path);
}

// { a: value } of an object that has a name.
void ViewBuilder::name_property(const Value& value) {
  if (groups_.empty() || groups_.back().open != '{' || groups_.back().key.empty() || groups_.back().scope.empty())
    return;
  const std::string_view key = groups_.back().key;
  groups_.back().key = {};
  // $`${{ raw: ".." }}` is not quoted.
  if (key == "raw" && value.is_text()) add_commands("Bun.$", value.text, false, value.begin, value.end);
  if (value.kind == Value::Kind::unknown || value.kind == Value::Kind::object || key.size() > 64) return;
  names_.set_has_properties();
  Value kept = value;
  kept.lone = false;
  const std::string_view full = arena_.concat(arena_.concat(arena_.copy(groups_.back().scope), "."), key);
  if (!names_.assign(full, kept)) second_reading_ = true;
}

// { a: value, b, ...c } as it is read: what stands in it so far lies behind the arguments of the call around it.
void ViewBuilder::keep_property(const Value& value) {
  if (groups_.empty() || groups_.back().open != '{') return;
  const Group& group = groups_.back();
  if (args_.size() - std::min(args_.size(), group.args_begin) >= kListMax) return;
  Value key;
  key.kind = Value::Kind::text;
  if (now_->lead == ':' && !group.key.empty()) {
    key.text = group.key;
  } else if ((now_->lead == '{' || now_->lead == ',') && !now_->word.empty() && !now_->has_sum && !now_->opaque) {
    key.text = now_->word;
  } else if (now_->lead == '.' && value.kind == Value::Kind::object) {
    const std::vector<Value> spread = lists_[value.list];
    args_.insert(args_.end(), spread.begin(), spread.end());
    return;
  } else {
    return;
  }
  args_.push_back(key);
  args_.push_back(value);
  args_.back().lone = false;
}

Value ViewBuilder::close_object(const Group& group) {
  Value object;
  const bool in_place =
      !group.outer->open && !group.outer->in_type && (group.outer->lead != ';' || group.outer->prefixed);
  if (!in_place || args_.size() < group.args_begin + 2) return object;
  object.kind = Value::Kind::object;
  object.list = static_cast<std::uint32_t>(lists_.size());
  object.begin = group.source_begin;
  lists_.emplace_back(args_.begin() + static_cast<std::ptrdiff_t>(group.args_begin), args_.end());
  list_bytes_ += lists_.back().size() * sizeof(Value);
  args_.resize(group.args_begin);
  return object;
}

// The name under which the members of the block at `index` are known.
std::string_view ViewBuilder::scope_of_block(std::uint32_t index) {
  if (now_->lead == '=' && !now_->declared.empty() && !now_->open && !now_->has_sum) return now_->declared;
  if (now_->lead == ':' && !now_->open && !groups_.empty() && !groups_.back().scope.empty() &&
      !groups_.back().key.empty()) {
    const std::string_view outer = groups_.back().scope;
    if (outer.size() > 128) return {};
    return arena_.concat(arena_.concat(arena_.copy(outer), "."), groups_.back().key);
  }
  for (std::uint32_t back = 1; back <= 6 && back <= index; back += 1) {
    switch (packed_name(source_of(tokens_[index - back]))) {
      case packed_name("enum"):
      case packed_name("class"): return back > 1 ? source_of(tokens_[index - back + 1]) : std::string_view();
      case packed_name(";"):
      case packed_name("}"):
      case packed_name("{"):
      case packed_name(")"):
      case packed_name("=>"):
      case packed_name("else"):
      case packed_name("="): return {};
      default:
        if (back > 1 && source_of(tokens_[index - back]) == "namespace") return source_of(tokens_[index - back + 1]);
    }
  }
  return {};
}

// --- patterns ------------------------------------------------------------------------------------------------------

// { a, b: c = 1, ["d"]: e, f: { g }, ...rest } or [a, , ...b]: tokens first to end, which are its brackets.
void ViewBuilder::bind_pattern(std::uint32_t first, std::uint32_t end, std::string_view path_view, const Value& value) {
  if (end >= tokens_.size() || first >= end) return;
  if (source_of(tokens_[first]) == "[") {
    if (value.kind == Value::Kind::list) bind_list(first, end, value);
    return;
  }
  const std::string path(path_view);
  const auto text = [&](std::uint32_t i) { return i < end ? source_of(tokens_[i]) : std::string_view(); };
  const auto give_part = [&](std::string_view name, const Value& part) {
    if (part.kind != Value::Kind::unknown && is_bindable(name) && !give(name, part)) second_reading_ = true;
  };
  std::uint32_t i = first + 1;
  while (i < end) {
    if (text(i) == "...") {
      if (!path.empty() && !add_meaning(text(i + 1), path)) second_reading_ = true;
      if (value.kind == Value::Kind::object) give_part(text(i + 1), value);
      return;
    }
    std::string_view key;
    bool known = true;
    const Token& at = tokens_[i];
    if (text(i) == "[") {
      const std::uint32_t close = matching_bracket(i);
      if (close == 0 || close >= end) return;
      const Token& inner = tokens_[i + 1];
      if (close == i + 2 && inner.kind == TokenKind::string) {
        key = literal_value(inner).text;
      } else if (const Value* constant = close == i + 2 ? names_.constant(source_of(inner)) : nullptr;
                 constant != nullptr && constant->is_known_text()) {
        key = constant->text;
      } else {
        known = false;
        if (!path.empty()) add_use("value", path, "[", at.begin, tokens_[close].end);
      }
      i = close + 1;
    } else {
      key = at.kind == TokenKind::string ? literal_value(at).text : source_of(at);
      if (at.kind == TokenKind::word && at.escaped) key = arena_.copy(decode_identifier(key));
      ++i;
    }
    std::string target;
    Value part;
    if (const Value* const member = known ? object_member(value, key, lists_) : nullptr; member != nullptr)
      part = *member;
    part.lone = false;
    if (part.kind == Value::Kind::path) {
      target = part.text;
      part = Value{};
    } else if (known && is_bindable(key)) {
      if (key == "constructor") {
        target = "%.constructor";
      } else if (!path.empty()) {
        target = key == "default" ? path : path + "." + std::string(key);
        if (key != "default") note_member(path, key, at.begin, at.end);
      }
    }
    if (text(i) == ":") {
      ++i;
      if (text(i) == "{" || text(i) == "[") {
        const std::uint32_t close = matching_bracket(i);
        if (close == 0 || close >= end) return;
        if (!target.empty() || part.kind != Value::Kind::unknown) bind_pattern(i, close, target, part);
        i = close + 1;
      } else {
        if (!target.empty() && !add_meaning(text(i), target)) second_reading_ = true;
        give_part(text(i), part);
        ++i;
      }
    } else if (known) {
      if (!target.empty() && !add_meaning(key, target)) second_reading_ = true;
      give_part(key, part);
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

void ViewBuilder::bind_list(std::uint32_t first, std::uint32_t end, const Value& list) {
  const std::vector<Value> items = lists_[list.list];
  std::size_t item = 0;
  bool begins = true;
  std::uint32_t depth = 0;
  for (std::uint32_t i = first + 1; i < end; ++i) {
    const std::string_view text = source_of(tokens_[i]);
    if (depth == 0 && text == ",") {
      ++item;
      begins = true;
      continue;
    }
    if (text == "{" || text == "[" || text == "(") ++depth;
    if (text == "}" || text == "]" || text == ")") --depth;
    if (!begins) continue;
    begins = false;
    if (text == "..." && i + 1 < end) {
      Value rest;
      rest.kind = Value::Kind::list;
      rest.list = static_cast<std::uint32_t>(lists_.size());
      lists_.emplace_back(items.begin() + static_cast<std::ptrdiff_t>(std::min(item, items.size())), items.end());
      if (!give(source_of(tokens_[i + 1]), rest)) second_reading_ = true;
      return;
    }
    if ((text == "{" || text == "[") && item < items.size()) {
      const std::uint32_t close = matching_bracket(i);
      const bool is_path = items[item].kind == Value::Kind::path;
      if (close != 0 && close < end)
        bind_pattern(i, close, is_path ? items[item].text : std::string_view(), items[item]);
      continue;
    }
    if (tokens_[i].kind != TokenKind::word || item >= items.size()) continue;
    Value value = items[item];
    value.lone = false;
    if (value.kind == Value::Kind::path) {
      if (!add_meaning(text, value.text)) second_reading_ = true;
      continue;
    }
    if (!give(text, value)) second_reading_ = true;
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
          if (!add_meaning(source_of(tokens_[first]), path)) second_reading_ = true;
        } else {
          bind_pattern(first, matching_bracket(first), path, Value{});
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
  note_declared(name);
  names_.assign(name, Value{});
  // As a statement it hides a global of its name. `function f(): T;` without a body does not.
  const std::string_view before = open >= 3 ? source_of(tokens_[open - 3]) : std::string_view(";");
  if (before == ";" || before == "}" || before == "{" || before == "export") declare_shadow(name, index);
}

// function f(..): Type {  at the brace
bool ViewBuilder::is_typed_body(std::uint32_t index) const noexcept {
  constexpr std::uint32_t kTypeMax = 24;
  if (!typed_ || closed_end_ == 0 || index < closed_end_ + 2 || index > closed_end_ + kTypeMax) return false;
  if (source_of(tokens_[closed_end_]) != ":") return false;
  for (std::uint32_t i = closed_end_ + 1; i < index; ++i) {
    const std::string_view text = source_of(tokens_[i]);
    const bool in_type = tokens_[i].kind == TokenKind::word || tokens_[i].kind == TokenKind::string || text == "<" ||
        text == ">" || text == "[" || text == "]" || text == "|" || text == "." || text == "," || text == "&";
    if (!in_type) return false;
  }
  return true;
}

// The operand, whose code began at code_begin, turned out to be this path.
void ViewBuilder::become(const Value& path, std::size_t code_begin, const Token& at) {
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

// process.argv and Bun.argv begin with where bun lies.
Value ViewBuilder::runtime_arguments() {
  Value bun;
  bun.kind = Value::Kind::text;
  bun.text = "bun";
  Value list;
  list.kind = Value::Kind::list;
  list.list = static_cast<std::uint32_t>(lists_.size());
  lists_.push_back({bun, Value{}});
  return list;
}

}  // namespace guard
