// The part of the token reader that watches the objects of the surface: which members are taken, and where an object
// itself leaves the names that can be followed.
#include <algorithm>
#include <array>
#include <string>

#include "rules/surface.h"
#include "validator/values/known_names.h"
#include "validator/views/token_reader.h"

namespace guard {
namespace {

// What stands behind these is free or has rules of its own.
bool is_quiet(SurfaceClass surface) noexcept {
  return surface == SurfaceClass::free || surface == SurfaceClass::named || surface == SurfaceClass::foreign;
}

// Object.defineProperty(process, "platform", ..) is about one member, and that one is harmless. Object.assign(global,
// ..) only adds to it. What inherits from a root is followed.
bool is_harmless_reflection(
    std::string_view callee, std::string_view root, std::size_t argument, std::string_view member) noexcept {
  static constexpr std::array<std::string_view, 9> kOneMember = {"Object.defineProperty", "Reflect.defineProperty",
      "Object.getOwnPropertyDescriptor", "Reflect.getOwnPropertyDescriptor", "Reflect.get", "Reflect.set",
      "Reflect.has", "Reflect.deleteProperty", "Object.hasOwn"};
  if (argument != 0) return false;
  if (callee == "Object.create" || callee == "Reflect.deleteProperty" || callee == "Reflect.has") return true;
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

// A member of a root object was named: told unless the surface says that it is harmless.
void TokenReader::note_member(std::string_view owner, std::string_view name, std::uint32_t begin, std::uint32_t end) {
  const SurfaceClass surface = member_class(owner, name);
  if (is_quiet(surface)) return;
  writer_.add_use(to_string(surface), std::string(owner) + "." + std::string(name), {}, begin, end);
}

void TokenReader::note_module(std::string_view specifier, std::uint32_t begin, std::uint32_t end) {
  const SurfaceClass surface = module_class(specifier);
  if (is_quiet(surface)) return;
  writer_.add_use(to_string(surface), "module " + std::string(specifier), {}, begin, end);
}

// The operand that ends here may be a root object, or a function that the rules watch, as a value of its own. Told with
// what becomes of it; a name that it is given, and a pattern that takes it apart, are followed instead.
void TokenReader::note_value(bool last) {
  const Expression& e = now();
  const Operand& o = e.operand;
  const Target& target = e.target;
  if (e.has_sum || (e.prefixed && e.lead != '.') || o.path.empty()) return;
  const bool exported = target.name_token > 1 && text_at(target.name_token - 2) == "export";
  const bool named = !target.declared.empty() || target.pattern_end != 0;
  if (last && target.declaration && named && !e.opaque && e.lead == '=' && !exported) return;
  if (e.lead == '=' && target.put_back == o.path) return;  // put back: process.exit = original
  const std::uint32_t end = std::max(o.value.end, o.begin + 1);
  if (e.lead == '`' && frame_->outer != nullptr && frame_->outer->tagged) {
    writer_.add_use("value", o.path, "(tag", o.begin, end);
    return;
  }
  if (e.lead == ';' || e.lead == '`') return;  // a statement of its own; the text of it
  const std::string_view next = text_at(at_);
  if ((e.lead == '(' || e.lead == ',') && frame_->open == '(') {
    // No call: the group goes on with it. But f<T>(root, ..) is read as a comparison and a group.
    if (e.lead == '(' && !frame_->call && next != ",") return;
    frame_->handed.push_back({args_.size() - frame_->args_begin, o.path, o.begin, end});
    return;
  }
  // { process } as a shorthand property; in a block it would be a statement.
  if (e.lead == '{' && next != "," && next != "}") return;
  writer_.add_use("value", o.path, std::string_view(&e.lead, 1), o.begin, end);
}

// f(..) { and f(..) => declare a function: what stands between are names. The next token is behind the bracket.
bool TokenReader::is_parameter_list(const Frame& frame) const noexcept {
  if (frame.outer->now.lead == 'o') return false;  // class extends f(..) {
  const std::uint32_t open = frame.token;
  if (open >= 2 && (text_at(open - 2) == "function" || text_at(open - 1) == "function")) return true;
  if (at_ >= tokens_.size()) return false;
  // f(name: T): no argument can begin like that.
  if (typed_ && is_word(open + 1) && text_at(open + 2) == ":" && text_at(at_) == ":") return true;
  return text_at(at_) == "=>" || (text_at(at_) == "{" && !tokens_[at_].line_before);
}

// The call closes: what it was handed is told with its name and, where the second argument is a text, the member it is
// about.
void TokenReader::note_handed(const Frame& frame, std::string_view callee, std::string_view member) {
  if (frame.handed.empty()) return;
  const std::string_view function = last_name(callee);
  const bool own = is_own_name(callee, names_);
  for (const HandedRoot& root : frame.handed) {
    // A spy without an implementation calls through to what it watches.
    if (function == "spyOn" && !member.empty() && at_ < tokens_.size() && text_at(at_) != ".")
      writer_.add_use("spied", std::string(root.path) + "." + std::string(member), {}, root.begin, root.end);
    const bool is_root = root.path.find('.') == std::string_view::npos;
    const bool compares = function == "expect" || function.starts_with("to");
    if (function == "expect" && names_a_state(text_at(at_ + 1)) && !own) continue;
    if (root.path != "eval" && is_free_handler(function) && !own && !(is_root && compares && root.path != "Function"))
      continue;
    if (is_harmless_reflection(callee, root.path, root.argument, member)) continue;
    std::string detail = "(";
    detail += callee.substr(callee.size() - std::min<std::size_t>(callee.size(), 64));
    if (!member.empty() && member.size() <= 64) {
      detail += ' ';
      detail += member;
    }
    std::replace_if(
        detail.begin(), detail.end(), [](char c) { return c >= '\x1c' && c <= '\x1f'; }, ' ');
    writer_.add_use("value", root.path, detail, root.begin, root.end);
  }
}

// globalThis[x.name], told where the name is a member of something and the result is used.
void TokenReader::note_computed_global(const Frame& frame, std::uint32_t close) {
  const Expression& e = now();
  if (!is_global_object(e.operand.path) || close < frame.token + 3 || e.prefixed) return;
  const std::string_view next = text_at(close + 1);
  if (next == "=" || (next.size() == 3 && next[0] == next[1] && next[0] != '=' && next[2] == '=')) return;
  bool member = false;
  for (std::uint32_t i = frame.token + 1; i < close && text_at(i) != "as" && text_at(i) != "satisfies"; ++i) {
    const bool dot = text_at(i) == "." || text_at(i) == "?.";
    if (text_at(i) == "Symbol" || text_at(i) == "this") return;
    if (!dot && text_at(i) != "!" && !is_word(i)) return;
    member = member || dot;
  }
  if (member) writer_.add_use("value", e.operand.path, "[", tokens_[frame.token].begin, tokens_[close].end);
}

// export { a as b } from "m", export * from "m": another file may use it under any name. The next token is the module.
void TokenReader::note_reexport(std::string_view specifier) {
  constexpr std::uint32_t kClauseMax = 4'000;  // tokens
  const std::string_view root = module_root(specifier);
  if (root.empty() || at_ < 3) return;
  const Token& at = tokens_[at_];
  std::uint32_t i = at_ - 1;  // `from`
  while (i > 0 && at_ - i < kClauseMax && text_at(i) != "export" && text_at(i) != ";") --i;
  if (text_at(i) != "export" || text_at(i + 1) == "type") return;
  if (text_at(i + 1) == "*") {
    writer_.add_use("value", root, "x", at.begin, at.end);
    return;
  }
  for (std::uint32_t name = i + 1; name + 1 < at_; ++name) {
    const std::string_view before = text_at(name - 1);
    if (!is_word(name) || (before != "{" && before != ",")) continue;
    const Token& token = tokens_[name];
    note_member(root, text_at(name), token.begin, token.end);
    writer_.add_use("value", member_path(root, text_at(name), arena_), "x", token.begin, token.end);
  }
}

// import x from "./x" with { type: "macro" }: bun runs the function while it reads the file.
void TokenReader::note_attributes(std::uint32_t index, const Value& specifier) {
  if ((text_at(index) != "with" && text_at(index) != "assert") || text_at(index + 1) != "{") return;
  for (std::uint32_t i = index + 2; i < index + 16 && i < tokens_.size() && text_at(i) != "}"; ++i) {
    if (tokens_[i].kind != TokenKind::string || literal_value(tokens_[i]).text != "macro") continue;
    writer_.add_use("host", "macro", {}, tokens_[i].begin, tokens_[i].end);
  }
  if (loads_as_text(index, index + 16)) writer_.add_path(kTextCallee, specifier);
}

// { type: "text" } among these tokens: the module is what stands in the file.
bool TokenReader::loads_as_text(std::uint32_t first, std::uint32_t end) {
  end = std::min(end, static_cast<std::uint32_t>(tokens_.size()));
  for (std::uint32_t i = first + 2; i < end && text_at(i) != ";"; ++i) {
    if (tokens_[i].kind != TokenKind::string || text_at(i - 1) != ":") continue;
    const std::string_view key = text_at(i - 2);
    const std::string_view type = literal_value(tokens_[i]).text;
    if (key.find("type") != std::string_view::npos && (type == "text" || type == "file")) return true;
  }
  return false;
}

}  // namespace guard
