// The part of the view builder that follows values through names, patterns, properties and calls of functions of the
// file. It never guesses: what it can't follow stays unknown, and the rules on uses judge it.
#include <algorithm>
#include <array>
#include <string>

#include "validator/values/fold_url.h"
#include "validator/views/view_builder.h"

namespace guard {
namespace {

constexpr std::size_t kPathMax = 256;
constexpr int kCallDepthMax = 8;
constexpr std::size_t kCallsMax = 4'000;            // of one file
constexpr std::uint64_t kCallBytesFree = 4 << 20;   // that calls may write in any case, beside four times the text
constexpr std::uint64_t kCallTokensFree = 400'000;  // that calls may read in any case, beside eight times the file's
constexpr std::uint32_t kBodyTokensMax = 2'000;     // longer functions are not followed
constexpr std::size_t kElementsMax = 256;           // of a list that is looped over
constexpr std::uint32_t kShortBody = 48;            // tokens; such a body costs nothing to read

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

// A call as bytes: equal for calls that give the same. Empty where that would be long.
std::string call_key(std::uint32_t function, std::uint64_t version, std::span<const Value> args) {
  constexpr std::size_t kKeyMax = 2'048;
  std::string key;
  const auto add = [&key](std::uint64_t number) { key.append(reinterpret_cast<const char*>(&number), sizeof number); };
  add(function);
  add(version);
  for (const Value& arg : args) {
    if (key.size() + arg.text.size() > kKeyMax) return {};
    add(static_cast<std::uint64_t>(arg.kind));
    add(static_cast<std::uint64_t>(arg.number));
    add(arg.list);
    add(arg.text.size());
    key += arg.text;
  }
  return key;
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

const Value* ViewBuilder::local(std::string_view name) const noexcept {
  for (auto at = locals_.rbegin(); at != locals_.rend(); ++at) {
    if (at->first == name) return &at->second;
  }
  return nullptr;
}

// False if the name was used before it was known.
bool ViewBuilder::give(std::string_view name, const Value& value) {
  if (call_depth_ > 0) {
    locals_.emplace_back(name, value);
    return true;
  }
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
  if (call_depth_ > 0) {
    Value value;
    value.kind = Value::Kind::path;
    value.text = arena_.copy(path);
    locals_.emplace_back(name, value);
    return true;
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
  if (value.kind == Value::Kind::unknown || value.kind == Value::Kind::object || call_depth_ > 0 || key.size() > 64)
    return;
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
    if (known && value.is_text()) part = url_part(value.text, key, lists_, arena_);
    part.lone = false;
    if (part.kind == Value::Kind::path && call_depth_ == 0) {
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
    if (value.kind == Value::Kind::path && call_depth_ == 0) {
      if (!add_meaning(text, value.text)) second_reading_ = true;
      continue;
    }
    if (!give(text, value)) second_reading_ = true;
  }
}

// --- functions -----------------------------------------------------------------------------------------------------

// The function whose parameters are the tokens params_first to params_end and whose body begins at body_first.
Value ViewBuilder::add_function(
    std::uint32_t params_first, std::uint32_t params_end, std::uint32_t body_first, bool getter) {
  Value value;
  if ((!main_reading_ && call_depth_ == 0) || body_first >= tokens_.size()) return value;
  const std::uint32_t end = scope_end(body_first, false);
  // Inside of a call the tokens are a part of those of the file.
  const auto offset = static_cast<std::uint32_t>(call_depth_ == 0 ? 0 : tokens_.data() - main_tokens_.data());
  if (end == 0 || end - body_first > kBodyTokensMax) return value;
  NameTable::Function function;
  function.params_first = params_first + offset;
  function.params_end = params_end + offset;
  function.body_first = body_first + offset;
  function.body_end = end + offset;
  function.acts = acts(body_first, end);
  function.getter = getter;
  function.reaches = function.acts || end - body_first <= kShortBody;
  if (const std::optional<std::uint32_t> index = names_.add_function(function)) {
    value.list = *index;
    value.kind = Value::Kind::function;
  }
  return value;
}

// Does a body name anything that leads to the world?
bool ViewBuilder::acts(std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t i = first; i < end; ++i) {
    if (tokens_[i].kind != TokenKind::word) continue;
    const std::string_view word = source_of(tokens_[i]);
    const bool object = word == "Object" || word == "String" || word == "console" || word == "module" || word == "path";
    if (is_root_name(word) && !object) return true;
    const CalleeTraits traits = traits_of(word);
    if ((traits & kRunsCommand) != 0 && i + 1 < end && source_of(tokens_[i + 1]) == "(") return true;
    const NameTable::Meaning* const meaning = names_.find(word);
    if (meaning == nullptr) continue;
    if (!meaning->aliases.empty()) return true;
    if (meaning->constant.kind == Value::Kind::function && names_.function(meaning->constant.list).acts) return true;
  }
  return false;
}

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
  const bool over_list = (in_call &&
                             (groups_.back().outer->receiver.kind == Value::Kind::list ||
                                 groups_.back().outer->operand.kind == Value::Kind::list)) ||
      (!in_call && !groups_.empty() && groups_.back().open == '(' && lead == '(');

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
  // text.replace(/x/g, (c) => ..), Array.from({ length: 3 }, (_, i) => ..)
  const bool makes_value = in_call && lead == ',' &&
      ((groups_.back().outer->receiver.is_text() && groups_.back().outer->method.starts_with("replace")) ||
          (groups_.back().outer->owner == "Array" && groups_.back().outer->method == "from"));
  Value function;
  if (!declared.empty() || over_list || makes_value ||
      (lead == ':' && !groups_.empty() && !groups_.back().scope.empty())) {
    function = add_function(first, end, index + 1);
  }
  now_->compared = true;
  now_->declared = {};
  now_->pattern_end = 0;
  finish(true);
  put("=>", at);
  now_->lead = lead == ':' ? ':' : '>';
  now_->function = function;
  if (!declared.empty() && function.kind == Value::Kind::function) {
    if (!give(declared, function)) second_reading_ = true;
  } else if (!declared.empty() && call_depth_ == 0 && !names_.assign(declared, Value{})) {
    second_reading_ = true;
  }
  if (!declared.empty() && declaration && !ambient) declare_shadow(declared, name_token);
  if (index + 1 < tokens_.size()) shadow_parameters(index + 1);
}

// function name(..) { at index
void ViewBuilder::name_function(std::uint32_t index) {
  const std::uint32_t open = closed_first_;
  if (open < 2 || tokens_[open - 1].kind != TokenKind::word) return;
  const std::string_view before_name = source_of(tokens_[open - 2]);
  const bool declared = before_name == "function" || (before_name == "*" && source_of(tokens_[open - 3]) == "function");
  static constexpr std::array<std::string_view, 12> kBeforeMethods = {
      "{", "}", ";", ",", "*", "static", "get", "async", "public", "private", "protected", "override"};
  const bool method = !groups_.empty() && groups_.back().open == '{' && source_of(tokens_[open - 1]) != "if" &&
      source_of(tokens_[open - 1]) != "for" && source_of(tokens_[open - 1]) != "while" &&
      source_of(tokens_[open - 1]) != "switch" && source_of(tokens_[open - 1]) != "catch" &&
      std::find(kBeforeMethods.begin(), kBeforeMethods.end(), before_name) != kBeforeMethods.end();
  if (declared) note_declared(source_of(tokens_[open - 1]));
  if (!declared && !method) return;
  const Value function = add_function(open + 1, closed_end_ - 1, index, !declared && before_name == "get");
  if (function.kind != Value::Kind::function) return;
  if (!declared) {
    Value key;
    key.kind = Value::Kind::text;
    key.text = source_of(tokens_[open - 1]);
    if (args_.size() - std::min(args_.size(), groups_.back().args_begin) < kListMax)
      args_.insert(args_.end(), {key, function});
    if (call_depth_ == 0 && !give_member(key.text, function)) second_reading_ = true;
    return;
  }
  if (!give(source_of(tokens_[open - 1]), function)) second_reading_ = true;
  // As a statement it hides a global of its name. `function f(): T;` without a body does not.
  const std::string_view before = open >= 3 ? source_of(tokens_[open - 3]) : std::string_view(";");
  if (before == ";" || before == "}" || before == "{" || before == "export")
    declare_shadow(source_of(tokens_[open - 1]), index);
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

// (root || {}).member, (true && root)(..): read as the root; what else stood there is kept as a reading of its own.
void ViewBuilder::become_alternative(
    const Group& group, const Value& total, std::string_view last, const Token& place) {
  const std::uint32_t next = index_ + 1;
  if (next >= tokens_.size()) return;
  const std::string_view text = source_of(tokens_[next]);
  const bool used =
      text == "." || text == "?." || text == "[" || text == "(" || tokens_[next].kind == TokenKind::template_open;
  Value path = total;
  if (total.kind == Value::Kind::unknown) {
    path.text = groups_.empty() && group.alternative.empty() ? std::string_view() : group.alternative;
    path.kind = Value::Kind::path;
  }
  if (total.kind == Value::Kind::unknown && path.text.empty() && text == "(" && is_identifier(last)) path.text = last;
  if (!used || path.kind != Value::Kind::path || path.text.empty()) return;
  CallTexts other;
  other.code = "\n;" + code_.text().substr(group.code_begin) + "\n;";
  other.place = {place.begin, place.end};
  calls_.push_back(std::move(other));
  become(path, group.code_begin, place);
  now_->tracked = is_tracked_path(path.text);
}

// NAME of (()=>NAME)() and [NAME][0].
std::string_view ViewBuilder::function_given(std::string_view code) const {
  for (const auto& [head, tail] : {std::pair<std::string_view, std::string_view>{"(()=>", ")()"}, {"[", "][0]"}}) {
    if (!code.starts_with(head) || !code.ends_with(tail) || code.size() <= head.size() + tail.size()) continue;
    const std::string_view name = code.substr(head.size(), code.size() - head.size() - tail.size());
    if (is_identifier(name)) return arena_.copy(name);
  }
  return {};
}

Value ViewBuilder::call_known_function(const Group& group, std::span<const Value> args, const Token& at) {
  const TextSpan place{group.outer->source_begin, at.end};
  // list.map(f), list.forEach(f)
  if (group.outer->receiver.kind == Value::Kind::list && !args.empty() && args[0].kind == Value::Kind::function) {
    static constexpr std::array<std::string_view, 9> kMethods = {
        "reduceRight", "map", "forEach", "flatMap", "filter", "find", "some", "every", "reduce"};
    if (std::find(kMethods.begin(), kMethods.end(), group.outer->method) == kMethods.end()) return {};
    std::vector<Value> items = lists_[group.outer->receiver.list];
    if (group.outer->method.starts_with("reduce")) {
      const std::uint32_t function = args[0].list;
      if (group.outer->method == "reduceRight") std::reverse(items.begin(), items.end());
      std::array<Value, 2> given = {args.size() > 1 ? args[1] : items.empty() ? Value{} : items[0], Value{}};
      for (std::size_t i = args.size() > 1 ? 0 : 1; i < items.size() && i < kElementsMax; ++i) {
        given[1] = items[i];
        given[0] = call_function(function, given, place);
      }
      return given[0];
    }
    Value mapped;
    mapped.kind = Value::Kind::list;
    std::vector<Value> results;
    for (std::size_t i = 0; i < items.size() && i < kElementsMax; ++i) {
      results.push_back(call_function(args[0].list, std::span(&items[i], 1), place));
    }
    if (group.outer->method == "flatMap") {
      std::vector<Value> flat;
      for (const Value& item : results) {
        if (item.kind == Value::Kind::list) {
          flat.insert(flat.end(), lists_[item.list].begin(), lists_[item.list].end());
        } else {
          flat.push_back(item);
        }
      }
      results.swap(flat);
    } else if (group.outer->method != "map") {
      return {};
    }
    mapped.list = static_cast<std::uint32_t>(lists_.size());
    list_bytes_ += results.size() * sizeof(Value);
    lists_.push_back(std::move(results));
    return mapped;
  }
  if (is_parameter_list(group)) return {};
  // test.each(list)(name, f)
  if (group.outer->operand.kind == Value::Kind::list && group.call) {
    const std::vector<Value> items = lists_[group.outer->operand.list];
    for (const Value& arg : std::vector<Value>(args.begin(), args.end())) {
      if (arg.kind != Value::Kind::function) continue;
      for (std::size_t i = 0; i < items.size() && i < kElementsMax; ++i) {
        if (items[i].kind == Value::Kind::list) {
          const std::vector<Value> row = lists_[items[i].list];
          call_function(arg.list, row, place);
        } else {
          call_function(arg.list, std::span(&items[i], 1), place);
        }
      }
    }
    return {};
  }
  const bool tells = std::any_of(args.begin(), args.end(), [](const Value& v) {
    return v.kind != Value::Kind::unknown && v.kind != Value::Kind::number && v.kind != Value::Kind::pattern &&
        (v.kind != Value::Kind::object || v.text.empty());
  });
  if (!tells && !args.empty()) return {};
  const Value* function = nullptr;
  if (group.outer->operand.kind == Value::Kind::function) {  // (() => x)()
    function = &group.outer->operand;
  } else if (const std::string_view name = group.outer->word.empty() ? group.outer->qualified : group.outer->word;
             !name.empty()) {
    function = group.outer->word.empty() ? nullptr : local(name);
    if (function == nullptr) function = names_.constant(name);
    if (function == nullptr) names_.note_use(name, NameTable::Use::told);
  }
  if (function == nullptr || function->kind != Value::Kind::function) return {};
  const NameTable::Function& known = names_.function(function->list);
  if (!known.reaches) return {};
  if (!tells && known.body_end - known.body_first > kShortBody) return {};
  const std::vector<Value> given(args.begin(), args.end());
  return call_function(function->list, given, place);
}

// Reads the body of a function once more, with the values that this call gives to its parameters.
Value ViewBuilder::call_function(std::uint32_t index, std::span<const Value> args, TextSpan place) {
  const NameTable::Function function = names_.function(index);
  const std::uint32_t size = function.body_end - function.body_first;
  if (function.body_end > main_tokens_.size()) return {};
  if (call_depth_ >= kCallDepthMax) {  // what happens further down is not known
    over_budget_ = over_budget_ || function.acts;
    return {};
  }
  if (std::find(work_->active.begin(), work_->active.end(), index) != work_->active.end()) return {};
  const std::string key = call_key(index, names_.version(), args);
  if (!key.empty()) {
    if (const auto known = work_->known.find(key); known != work_->known.end()) return known->second;
  }
  std::uint64_t& spent = work_->tokens;
  // More calls than can be followed: what the rest does is not known.
  const std::uint64_t cost = size + (function.params_end - function.params_first) + locals_.size();
  const bool too_long = work_->bytes > 4 * read_bytes_ + kCallBytesFree;
  if (calls_.size() >= kCallsMax || too_long || spent + cost > 8 * main_tokens_.size() + kCallTokensFree) {
    over_budget_ = over_budget_ || function.acts;
    return {};
  }
  spent += cost;
  ViewTexts texts;
  ViewBuilder inner(source_, names_, arena_, lists_, texts, typed_, origin_ ? *origin_ : place);
  inner.call_depth_ = call_depth_ + 1;
  inner.read_bytes_ = read_bytes_;
  inner.work_ = work_;
  work_->active.push_back(index);
  inner.main_tokens_ = main_tokens_;
  inner.locals_ = locals_;
  inner.tokens_ = main_tokens_;
  for (const Shadow& shadow : shadows_) {
    if (shadow.depth == 0 && shadow.end == UINT32_MAX) inner.shadows_.push_back({shadow.name, 0, 0, UINT32_MAX});
  }
  // The parameters, in order.
  std::size_t argument = 0;
  std::uint32_t depth = 0;
  bool begins = true;
  for (std::uint32_t i = function.params_first; i < function.params_end; ++i) {
    const std::string_view text = source_of(main_tokens_[i]);
    if (depth == 0 && text == ",") {
      ++argument;
      begins = true;
      continue;
    }
    if (begins) {
      begins = false;
      Value given = argument < args.size() ? args[argument] : Value{};
      given.lone = false;  // here it is handed to another function
      if (text == "..." && i + 1 < function.params_end) {
        Value rest;
        rest.kind = Value::Kind::list;
        rest.list = static_cast<std::uint32_t>(lists_.size());
        lists_.emplace_back(args.begin() + static_cast<std::ptrdiff_t>(std::min(argument, args.size())), args.end());
        inner.locals_.emplace_back(source_of(main_tokens_[i + 1]), rest);
      } else if (main_tokens_[i].kind == TokenKind::word) {
        inner.locals_.emplace_back(text, given);
        if (is_tracked_path(text)) inner.shadows_.push_back({text, 0, 0, UINT32_MAX});
      } else if (text == "[" && given.kind == Value::Kind::list) {
        const std::uint32_t close = inner.matching_bracket(i);
        if (close != 0) inner.bind_list(i, close, given);
      } else if (text == "{" && (given.kind == Value::Kind::object || given.kind == Value::Kind::path)) {
        const std::uint32_t close = inner.matching_bracket(i);
        const bool is_path = given.kind == Value::Kind::path;
        if (close != 0) inner.bind_pattern(i, close, is_path ? given.text : std::string_view(), given);
      }
    }
    if (text == "{" || text == "[" || text == "(" || text == "<") ++depth;
    if ((text == "}" || text == "]" || text == ")" || text == ">") && depth > 0) --depth;
  }
  inner.main_reading_ = false;
  inner.read(main_tokens_.subspan(function.body_first, size));
  work_->active.pop_back();
  over_budget_ = over_budget_ || inner.over_budget_;
  CallTexts written;
  written.code = std::move(texts.code).text();
  written.strings = std::move(texts.strings).text();
  written.commands = std::move(texts.commands).text();
  written.uses = std::move(texts.uses).text();
  work_->bytes += written.code.size() + written.strings.size() + written.commands.size() + written.uses.size();
  written.place = place;
  calls_.push_back(std::move(written));
  out_.nested.insert(out_.nested.end(), texts.nested.begin(), texts.nested.end());
  Value result = inner.result_;
  if (!inner.yields_.empty()) {
    result.kind = Value::Kind::list;
    result.list = static_cast<std::uint32_t>(lists_.size());
    lists_.push_back(std::move(inner.yields_));
  }
  result.lone = false;
  if (!key.empty()) work_->known.emplace(key, result);
  return result;
}

// for (const name of list) body
void ViewBuilder::loop_over(std::uint32_t name, const Value& list, std::uint32_t body, TextSpan place) {
  if (!main_reading_ && call_depth_ == 0) return;
  const bool pattern = tokens_[name].kind == TokenKind::punctuator;
  const std::uint32_t end = pattern ? matching_bracket(name) + 1 : name + 1;
  const Value function = add_function(name, end, body);
  if (function.kind != Value::Kind::function) return;
  const std::vector<Value> items = lists_[list.list];
  for (std::size_t i = 0; i < items.size() && i < kElementsMax; ++i)
    call_function(function.list, std::span(&items[i], 1), place);
}

// What calls wrote comes behind what the file wrote itself. Much can have been written: it is let go piece by piece.
void ViewBuilder::append_calls() {
  const auto append = [&](MappedText& to, std::string CallTexts::*from) {
    std::size_t size = to.size();
    for (const CallTexts& call : calls_) size += (call.*from).size();
    to.reserve(size);
    for (CallTexts& call : calls_) {
      write(to, call.*from, static_cast<std::uint32_t>(call.place.begin), static_cast<std::uint32_t>(call.place.end));
      (call.*from) = std::string();
    }
  };
  append(code_, &CallTexts::code);
  append(strings_, &CallTexts::strings);
  append(out_.commands, &CallTexts::commands);
  append(out_.uses, &CallTexts::uses);
  calls_.clear();
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
