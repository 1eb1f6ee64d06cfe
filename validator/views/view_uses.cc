// The part of the view builder that watches the objects which lead to the world: which members are taken, and where an
// object itself leaves the names that can be followed.
#include <algorithm>
#include <array>
#include <string>

#include "rules/surface.h"
#include "validator/views/view_builder.h"

namespace guard {
namespace {

constexpr std::uint32_t kScopeLookAheadMax = 200'000;  // tokens to the end of one scope
constexpr std::uint64_t kLookAheadFactor = 8;          // of all tokens, for all scopes together

// Object.defineProperty(process, "platform", ..) is about one member, and that one is harmless. Object.assign(global,
// ..) only adds to it. What inherits from a root is followed.
bool is_harmless_reflection(
    std::string_view callee, std::string_view root, std::size_t argument, std::string_view member) noexcept {
  static constexpr std::array<std::string_view, 9> kOneMember = {"Object.defineProperty", "Reflect.defineProperty",
      "Object.getOwnPropertyDescriptor", "Reflect.getOwnPropertyDescriptor", "Reflect.get", "Reflect.set",
      "Reflect.has", "Reflect.deleteProperty", "Object.hasOwn"};
  if (argument != 0) return false;
  if (callee == "Object.create") return true;
  if (callee == "Object.assign" && is_global_object(root)) return true;
  if (member.empty() || std::find(kOneMember.begin(), kOneMember.end(), callee) == kOneMember.end()) return false;
  if (is_global_object(root)) {
    return member != "process" && member != "Bun" && member != "eval" && member != "Function" && member != "require" &&
        member != "module" && !is_global_object(member);
  }
  const SurfaceClass surface = member_class(root, member);
  const bool takes = callee.ends_with("get") || callee.ends_with("Descriptor");
  return surface == SurfaceClass::free || (surface == SurfaceClass::named && member != "env" && !takes);
}

// Matchers that say nothing of what they are given.
bool names_a_state(std::string_view matcher) noexcept {
  return matcher == "toBeUndefined" || matcher == "toBeDefined" || matcher == "toBeTruthy" || matcher == "toBeFalsy" ||
      matcher == "toBeNull";
}

}  // namespace

void ViewTexts::clear() {
  cut(Mark{});
  keeps_texts = false;
}

ViewTexts::Mark ViewTexts::mark() const noexcept {
  return {code.size(), strings.size(), commands.size(), uses.size(), escaped_names.size(), nested.size(), texts.size()};
}

void ViewTexts::cut(const Mark& to) {
  const auto cut_text = [](MappedText& text, std::size_t size) {
    if (size == 0) {
      text.clear();
    } else {
      text.truncate(size);
    }
  };
  cut_text(code, to.code);
  cut_text(strings, to.strings);
  cut_text(commands, to.commands);
  cut_text(uses, to.uses);
  escaped_names.resize(to.escaped_names);
  nested.resize(to.nested);
  texts.resize(to.texts);
}

void ViewBuilder::add_use(
    std::string_view kind, std::string_view path, std::string_view detail, std::uint32_t begin, std::uint32_t end) {
  scratch_.assign(1, kEntryBegin);
  scratch_ += kind;
  scratch_ += kEntryText;
  scratch_ += path;
  scratch_ += kEntryText;
  scratch_ += detail;
  scratch_ += kEntryEnd;
  write(out_.uses, scratch_, begin, end);
}

// A member of a root object was named: told unless the surface says that it is harmless.
void ViewBuilder::note_member(std::string_view owner, std::string_view name, std::uint32_t begin, std::uint32_t end) {
  const SurfaceClass surface = member_class(owner, name);
  if (surface == SurfaceClass::free || surface == SurfaceClass::named || surface == SurfaceClass::foreign) return;
  add_use(to_string(surface), std::string(owner) + "." + std::string(name), {}, begin, end);
}

void ViewBuilder::note_module(std::string_view specifier, std::uint32_t begin, std::uint32_t end) {
  const SurfaceClass surface = module_class(specifier);
  if (surface == SurfaceClass::free || surface == SurfaceClass::named || surface == SurfaceClass::foreign) return;
  add_use(to_string(surface), "module " + std::string(specifier), {}, begin, end);
}

// The expression that ends here may be a root object, or a function that the rules watch, as a value of its own. Told
// with what becomes of it; a name that it is given, and a pattern that takes it apart, are followed instead.
void ViewBuilder::note_value(bool last) {
  const bool is_value = now_->tracked && now_->open && !now_->has_sum;
  if (!is_value || now_->compared || (now_->prefixed && now_->lead != '.')) return;
  const bool exported =
      now_->declaration && now_->name_token > 1 && source_of(tokens_[now_->name_token - 2]) == "export";
  const bool followed = last && now_->declaration && (!now_->declared.empty() || now_->pattern_end != 0) &&
      !now_->opaque && now_->lead == '=' && !exported;
  if (followed || now_->annotated) return;
  const std::string path(path_of_operand());
  if (path.empty()) return;
  const std::uint32_t begin = now_->source_begin;
  const std::uint32_t end = std::max(now_->operand.end, begin + 1);
  const char lead = now_->lead;
  if (lead == '=' && now_->target == path) return;  // put back: process.exit = original
  if (lead == '`' && groups_.size() > 1 && groups_[groups_.size() - 2].tagged) {
    add_use("value", path, "(tag", begin, end);
    return;
  }
  if (lead == ';' || lead == '`') return;  // a statement of its own; the text of it
  const std::string_view next = index_ < tokens_.size() ? source_of(tokens_[index_]) : std::string_view();
  if ((lead == '(' || lead == ',') && !groups_.empty() && groups_.back().open == '(') {
    // No call: the group goes on with it. But f<T>(root, ..) is read as a comparison and a group.
    if (lead == '(' && !groups_.back().call && next != ",") return;
    handed_roots_.push_back({groups_.size(), args_.size() - groups_.back().args_begin, path, begin, end});
    return;
  }
  // { process } as a shorthand property; in a block it would be a statement.
  if (lead == '{' && next != "," && next != "}") return;
  add_use("value", path, std::string_view(&now_->lead, 1), begin, end);
}

// `=>`, or a type and then `=>`: what stood in parentheses before `index` were parameters.
bool ViewBuilder::is_arrow_head(std::uint32_t index, bool in_condition) const noexcept {
  if (index >= tokens_.size()) return false;
  if (source_of(tokens_[index]) == "=>") return true;
  if (in_condition || source_of(tokens_[index]) != ":") return false;  // c ? (a, b) : d => e
  for (std::uint32_t i = index + 1; i < index + 40 && i < tokens_.size(); ++i) {
    const std::string_view text = source_of(tokens_[i]);
    if (text == "=>") return true;
    if (text == ";" || text == "," || text == "=" || text == "(") return false;
  }
  return false;
}

// f(..) { and f(..) => declare a function: what stands between are names.
bool ViewBuilder::is_parameter_list(const Group& group) const noexcept {
  if (group.outer->lead == 'o') return false;  // class extends f(..) {
  const std::uint32_t before = group.token;
  if (before >= 2 && (source_of(tokens_[before - 2]) == "function" || source_of(tokens_[before - 1]) == "function"))
    return true;
  if (index_ + 1 >= tokens_.size()) return false;
  // f(name: T): no argument can begin like that.
  const bool typed = typed_ && before + 2 < tokens_.size() && tokens_[before + 1].kind == TokenKind::word &&
      source_of(tokens_[before + 2]) == ":";
  if (typed && group.open == '(' && source_of(tokens_[index_ + 1]) == ":") return true;
  const Token& next = tokens_[index_ + 1];
  return source_of(next) == "=>" || (source_of(next) == "{" && !next.line_before);
}

// The call closes: what it was handed is told with its name and, where the second argument is a text, the member it is
// about.
void ViewBuilder::flush_handed_roots(std::string_view callee, std::string_view member) {
  while (!handed_roots_.empty() && handed_roots_.back().group >= groups_.size()) {
    const HandedRoot root = std::move(handed_roots_.back());
    handed_roots_.pop_back();
    const std::string_view function = last_name(callee);
    // A spy without an implementation calls through to what it watches.
    if (function == "spyOn" && !member.empty() && index_ + 1 < tokens_.size() &&
        source_of(tokens_[index_ + 1]) != ".") {
      add_use("spied", root.path + "." + std::string(member), {}, root.begin, root.end);
    }
    const bool is_root = root.path.find('.') == std::string::npos;
    const bool compares = function == "expect" || function.starts_with("to");
    const bool only_asked =
        function == "expect" && index_ + 2 < tokens_.size() && names_a_state(source_of(tokens_[index_ + 2]));
    if (only_asked && !is_own_name(callee)) continue;
    if (root.path != "eval" && is_free_handler(function) && !is_own_name(callee) &&
        !(is_root && compares && root.path != "Function"))
      continue;
    if (is_harmless_reflection(callee, root.path, root.argument, member)) continue;
    const bool of_any_name = callee == "Reflect.deleteProperty" || callee == "Reflect.has";
    if (of_any_name && root.argument == 0) continue;
    std::string detail = "(";
    detail += callee.size() > 64 ? callee.substr(callee.size() - 64) : callee;
    std::replace_if(
        detail.begin(), detail.end(), [](char c) { return c >= '\x1c' && c <= '\x1f'; }, ' ');
    if (!member.empty() && member.size() <= 64) {
      detail += ' ';
      detail += member;
    }
    add_use("value", root.path, detail, root.begin, root.end);
  }
}

// globalThis[x.name], told where the name is a member of something and the result is used.
void ViewBuilder::note_computed_global(const Group& group, std::uint32_t close) {
  const std::string_view code = code_.text();
  const std::string_view object = code.substr(group.callee_begin, group.code_begin - group.callee_begin);
  const std::string_view ahead = code.substr(0, group.callee_begin);
  if (!is_global_object(object) || close < group.token + 3 || ahead.ends_with("delete") || ahead.ends_with("delete "))
    return;
  const auto text = [&](std::uint32_t i) { return i < tokens_.size() ? source_of(tokens_[i]) : std::string_view(); };
  const std::string_view next = text(close + 1);
  if (next == "=" || (next.size() == 3 && next[0] == next[1] && next[0] != '=' && next[2] == '=')) return;
  bool member = false;
  for (std::uint32_t i = group.token + 1; i < close && text(i) != "as" && text(i) != "satisfies"; ++i) {
    const bool dot = text(i) == "." || text(i) == "?.";
    if (text(i) == "Symbol" || text(i) == "this") return;
    if (!dot && text(i) != "!" && tokens_[i].kind != TokenKind::word) return;
    member = member || dot;
  }
  if (member) add_use("value", object, "[", group.source_begin, tokens_[close].end);
}

// globalThis[Symbol.for("x")]: what has a symbol for a name is no ability.
bool ViewBuilder::is_symbol_of_global(const Group& group) {
  const auto text = [&](std::uint32_t i) { return i < tokens_.size() ? source_of(tokens_[i]) : std::string_view(); };
  const std::uint32_t open = group.token;
  if (index_ != open + 7 || text(open + 1) != "Symbol" || text(open + 3) != "for" || text(open + 4) != "(")
    return false;
  const std::string_view code = std::string_view(code_.text()).substr(0, group.code_begin);
  std::size_t begin = code.size();
  while (begin > 0 && is_word_byte(code[begin - 1])) --begin;
  return is_global_object(code.substr(begin));
}

// --- names that hide globals ---------------------------------------------------------------------------------------

// What the file declares itself is not the global of that name, as far as the scope goes. Only what is sure counts: a
// declaration in the same block and before the use, or a parameter of a function whose end was found.
bool ViewBuilder::is_shadowed(std::string_view name, std::uint32_t index) const noexcept {
  return std::any_of(shadows_.begin(), shadows_.end(), [&](const Shadow& shadow) {
    return shadow.name == name && groups_.size() >= shadow.depth && index >= shadow.first && index < shadow.end;
  });
}

void ViewBuilder::declare_shadow(std::string_view name, std::uint32_t index) {
  constexpr std::size_t kShadowsMax = 64;
  if (!is_tracked_path(name) || name == "eval" || name == "Function" || name == "import") return;
  const bool in_block = groups_.empty() || groups_.back().open == '{';
  if (!in_block || shadows_.size() >= kShadowsMax) return;
  Shadow shadow;
  shadow.name = name;
  shadow.depth = groups_.size();
  shadow.first = index;
  shadows_.push_back(shadow);
}

// The token behind the scope that begins at `index`: a block, or the expression of an arrow function. 0 if unknown.
std::uint32_t ViewBuilder::scope_end(std::uint32_t index, bool one_line) {
  std::uint32_t depth = 0;
  const bool block = index < tokens_.size() && source_of(tokens_[index]) == "{";
  const auto limit = static_cast<std::uint32_t>(std::min<std::size_t>(tokens_.size(), index + kScopeLookAheadMax));
  for (std::uint32_t i = index; i < limit; ++i) {
    // Without a semicolon the expression ends with its line at the latest.
    if (one_line && !block && depth == 0 && i > index && tokens_[i].line_before) return i;
    if (++looked_ahead_ > kLookAheadFactor * tokens_.size()) return 0;
    if (tokens_[i].kind == TokenKind::substitution_open) ++depth;
    if (tokens_[i].kind == TokenKind::substitution_close && depth-- == 0) return block ? 0 : i;
    if (tokens_[i].kind != TokenKind::punctuator) continue;
    const std::string_view text = source_of(tokens_[i]);
    if (text == "(" || text == "[" || text == "{") {
      ++depth;
    } else if (text == ")" || text == "]" || text == "}") {
      if (depth == 0) return block ? 0 : i;
      --depth;
      if (block && depth == 0) return i + 1;
    } else if (!block && depth == 0 && (text == "," || text == ";")) {
      return i;
    }
  }
  return !block && limit == tokens_.size() ? limit : 0;
}

// `index` is the first token of a function's body; its parameters stand in the group that was closed last, or are the
// one word before `=>`.
void ViewBuilder::shadow_parameters(std::uint32_t index) {
  const auto hide = [&](std::uint32_t at) {
    const std::string_view name = source_of(tokens_[at]);
    if (tokens_[at].kind != TokenKind::word || !is_tracked_path(name) || name == "eval" || name == "Function") return;
    const std::uint32_t end = scope_end(index, true);
    if (end == 0 || shadows_.size() >= 64) return;
    Shadow shadow;
    shadow.name = name;
    shadow.first = index;
    shadow.end = end;
    shadows_.push_back(shadow);
  };
  if (index < 2) return;
  if (source_of(tokens_[index - 1]) == "=>" && tokens_[index - 2].kind == TokenKind::word) {
    hide(index - 2);
    return;
  }
  std::uint32_t depth = 0;
  for (std::uint32_t i = closed_first_; i + 1 < closed_end_ && i < closed_first_ + 400; ++i) {
    const std::string_view text = source_of(tokens_[i]);
    // ({ constructor: C }) => C("..")
    if (text == "{" && depth == 1) {
      const std::string_view before = source_of(tokens_[i - 1]);
      if (before == "(" || before == ",") bind_pattern(i, matching_bracket(i), {}, {});
    }
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") --depth;
    const bool behind = text == "(" || text == ",";
    if (closed_condition_ || depth != 1 || !behind || tokens_[i + 1].kind != TokenKind::word || i + 2 >= closed_end_)
      continue;
    const std::string_view after = source_of(tokens_[i + 2]);
    // A default value may be the global itself.
    if (after != "," && after != ")" && after != ":" && after != "?") continue;
    if (after == ":" || after == "?") {
      bool has_default = false;
      constexpr std::uint32_t kTypeMax = 64;  // a longer type may hide a default value: not hidden then
      for (std::uint32_t j = i + 2; j < closed_end_ && source_of(tokens_[j]) != ","; ++j) {
        if (j > i + 2 + kTypeMax) has_default = true;
        if (has_default) break;
        has_default = has_default || source_of(tokens_[j]) == "=";
      }
      if (has_default) continue;
    }
    hide(i + 1);
  }
}

// Is `callee` more than a well-known name: a method of something, or a function that the file declares?
bool ViewBuilder::is_own_name(std::string_view callee) const {
  if (callee.empty()) return false;
  const std::string_view root = callee.substr(0, callee.find_first_of(".(["));
  if (root == callee) return names_.is_declared(callee);
  if (is_tracked_path(callee)) return false;
  static constexpr std::array<std::string_view, 12> kLibraries = {
      "expect", "test", "it", "describe", "vi", "jest", "assert", "mock", "sinon", "t", "chai", "bench"};
  if (std::find(kLibraries.begin(), kLibraries.end(), root) != kLibraries.end())
    return root == "t" || names_.is_declared(root);
  // Methods of texts and lists, and of mocks.
  const std::string_view name = last_name(callee);
  static constexpr std::array<std::string_view, 10> kMethods = {"includes", "startsWith", "endsWith", "indexOf",
      "mockReturnValue", "mockReturnValueOnce", "mockResolvedValue", "mockResolvedValueOnce", "fromJSON", "match"};
  return std::find(kMethods.begin(), kMethods.end(), name) == kMethods.end();
}

// export { a as b } from "m", export * from "m": another file may use it under any name.
void ViewBuilder::note_reexport(std::uint32_t index, std::string_view specifier) {
  const std::string root(module_root(specifier));
  if (root.empty() || index < 3) return;
  const Token& at = tokens_[index];
  std::uint32_t i = index - 1;  // `from`
  for (; i > 0 && index - i < kScopeLookAheadMax; --i) {
    const std::string_view text = source_of(tokens_[i]);
    if (text == "export" || text == ";") break;
  }
  if (source_of(tokens_[i]) != "export" || source_of(tokens_[i + 1]) == "type") return;
  if (source_of(tokens_[i + 1]) == "*") {
    add_use("value", root, "x", at.begin, at.end);
    return;
  }
  for (std::uint32_t name = i + 1; name + 1 < index; ++name) {
    const std::string_view before = source_of(tokens_[name - 1]);
    if (tokens_[name].kind != TokenKind::word || (before != "{" && before != ",")) continue;
    const std::string_view text = source_of(tokens_[name]);
    note_member(root, text, tokens_[name].begin, tokens_[name].end);
    const std::string path = text == "default" ? root : root + "." + std::string(text);
    add_use("value", path, "x", tokens_[name].begin, tokens_[name].end);
  }
}

// import x from "./x" with { type: "macro" }: bun runs the function while it reads the file.
void ViewBuilder::note_attributes(std::uint32_t index) {
  const auto text = [&](std::uint32_t i) { return i < tokens_.size() ? source_of(tokens_[i]) : std::string_view(); };
  if ((text(index) != "with" && text(index) != "assert") || text(index + 1) != "{") return;
  for (std::uint32_t i = index + 2; i < index + 16 && i < tokens_.size() && text(i) != "}"; ++i) {
    if (tokens_[i].kind != TokenKind::string) continue;
    const Value value = literal_value(tokens_[i]);
    if (value.text == "macro") add_use("host", "macro", {}, tokens_[i].begin, tokens_[i].end);
  }
}

}  // namespace guard
