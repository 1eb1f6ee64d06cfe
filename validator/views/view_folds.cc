// The part of the view builder that computes what needs functions of the file: replacements by function, lists made by
// one, tagged templates; and what stands for a global by a name that is computed.
#include <array>
#include <string>

#include "validator/values/fold_pattern.h"
#include "validator/views/view_builder.h"

namespace guard {
namespace {

constexpr std::uint32_t kPatternsMax = 500;  // compiled for one file
constexpr std::size_t kMadeMax = 64;         // elements of a list that a function makes
constexpr std::uint64_t kScanFactor = 32;    // of all tokens, to find what names are given

}  // namespace

// Where a method takes a pattern, or a function for what it replaces.
Value ViewBuilder::fold_with_pattern(const Expression& outer, std::span<const Value> args, TextSpan place) {
  const std::string_view method = outer.method;
  const bool runs =
      outer.receiver.kind == Value::Kind::pattern && method == "exec" && !args.empty() && args[0].is_text();
  const bool replaces = outer.receiver.is_text() && args.size() > 1 && args[1].kind == Value::Kind::function;
  const bool takes = outer.receiver.is_text() && !args.empty() && args[0].kind == Value::Kind::pattern;
  if (!runs && !replaces && !takes) return {};
  if (++work_->patterns > kPatternsMax) {
    over_budget_ = true;  // what the rest makes is not known
    return {};
  }
  const auto by_function = [&](const PatternMatch& match) {
    std::vector<Value> given;
    for (const std::string_view part : match) {
      Value& text = given.emplace_back();
      text.kind = Value::Kind::text;
      text.text = part;
    }
    return call_function(args[1].list, given, place);
  };
  if (runs) return fold_pattern_method(args[0], "match", std::span(&outer.receiver, 1), by_function, lists_, arena_);
  const std::vector<Value> given(args.begin(), args.end());
  const Value receiver = outer.receiver;
  return fold_pattern_method(receiver, method, given, by_function, lists_, arena_);
}

// Array.from({ length: n }, (_, i) => ..), Array.from(list, f)
Value ViewBuilder::made_list(std::span<const Value> args, TextSpan place) {
  if (args.size() < 2 || args[1].kind != Value::Kind::function) return {};
  std::vector<Value> from;
  if (args[0].kind == Value::Kind::list) {
    from = lists_[args[0].list];
  } else if (const Value* const length = object_member(args[0], "length", lists_);
             length != nullptr && length->kind == Value::Kind::number) {
    if (length->number > 0 && length->number <= static_cast<std::int64_t>(kMadeMax))
      from.resize(static_cast<std::size_t>(length->number));
  }
  if (from.empty() || from.size() > kListMax) return {};
  const std::uint32_t function = args[1].list;
  Value made;
  made.kind = Value::Kind::list;
  std::vector<Value> items;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::array<Value, 2> given = {from[i], Value{}};
    given[1].kind = Value::Kind::number;
    given[1].number = static_cast<std::int64_t>(i);
    items.push_back(call_function(function, given, place));
  }
  made.list = static_cast<std::uint32_t>(lists_.size());
  lists_.push_back(std::move(items));
  return made;
}

// The parts of a tagged template lie in turn behind the arguments of what is around it: text, value, text, ..
void ViewBuilder::add_template_part(const Value& part, bool is_text) {
  const Group& group = groups_.back();
  const std::size_t count = args_.size() - std::min(args_.size(), group.args_begin);
  if (count > kListMax) return;
  const bool text_due = count % 2 == 0;
  if (text_due != is_text) {
    if (is_text) return;
    Value empty;
    empty.kind = Value::Kind::text;
    args_.push_back(empty);
  }
  args_.push_back(part);
  args_.back().lone = false;
}

// f`a${b}c` for a function of the file.
Value ViewBuilder::call_tag(const Group& group, TextSpan place) {
  const Expression& outer = *group.outer;
  if (outer.word.empty() || args_.size() <= group.args_begin) return {};
  const Value* function = local(outer.word);
  if (function == nullptr) function = names_.constant(outer.word);
  if (function == nullptr) names_.note_use(outer.word, NameTable::Use::told);
  if (function == nullptr || function->kind != Value::Kind::function) return {};
  Value texts;
  texts.kind = Value::Kind::list;
  texts.list = static_cast<std::uint32_t>(lists_.size());
  std::vector<Value> items;
  std::vector<Value> given = {texts};
  for (std::size_t i = group.args_begin; i < args_.size(); ++i) {
    ((i - group.args_begin) % 2 == 0 ? items : given).push_back(args_[i]);
  }
  list_bytes_ += items.size() * sizeof(Value);
  lists_.push_back(std::move(items));
  return call_function(function->list, given, place);
}

// globalThis[x], told where x is no name that a function was given: a member, the result of a call, or a name with a
// value that can't be followed.
void ViewBuilder::note_computed_global(const Group& group, std::uint32_t close) {
  const std::string_view object =
      std::string_view(code_.text()).substr(group.callee_begin, group.code_begin - group.callee_begin);
  if (!is_global_object(object) || close < group.token + 2) return;
  const auto text = [&](std::uint32_t i) { return i < tokens_.size() ? source_of(tokens_[i]) : std::string_view(); };
  const std::string_view next = text(close + 1);
  const bool assigned = next == "=" || (next.size() == 3 && next[0] == next[1] && next[0] != '=' && next[2] == '=');
  const std::string_view code = code_.text();
  const std::string_view ahead = code.substr(0, group.callee_begin);
  if (assigned || ahead.ends_with("delete") || ahead.ends_with("delete ")) return;
  bool computed = false;
  if (close == group.token + 2) {
    computed = tokens_[group.token + 1].kind == TokenKind::word && has_unknown_value(text(group.token + 1));
  } else {
    bool names_only = true;
    for (std::uint32_t i = group.token + 1; i < close; ++i) {
      if (text(i) == "as" || text(i) == "satisfies") break;
      if (text(i) == "Symbol" || text(i) == "this") names_only = false;
      computed = computed || text(i) == "." || text(i) == "?.";
      names_only =
          names_only && (tokens_[i].kind == TokenKind::word || text(i) == "." || text(i) == "!" || text(i) == "?.");
    }
    computed = computed && names_only;
  }
  if (computed) add_use("value", object, "[", group.source_begin, tokens_[close].end);
}

// const NAME = .., with something other than a symbol, and nothing else that could be meant by the name.
bool ViewBuilder::has_unknown_value(std::string_view name) {
  const auto text = [&](std::size_t i) {
    return i < main_tokens_.size() ? source_of(main_tokens_[i]) : std::string_view();
  };
  if (local(name) != nullptr) return false;
  if (const auto known = work_->unknown_names.find(name); known != work_->unknown_names.end()) return known->second;
  work_->scanned += main_tokens_.size();
  if (work_->scanned > kScanFactor * main_tokens_.size()) return true;
  bool found = false;
  bool harmless = false;
  for (std::size_t i = 1; i + 3 < main_tokens_.size(); ++i) {
    if (main_tokens_[i].kind != TokenKind::word || text(i) != name) continue;
    const std::string_view before = text(i - 1);
    const bool declared = before == "const" || before == "let" || before == "var";
    const std::string_view behind = text(i + 1);
    // (name, .. or name => .. or , name): it may be a parameter.
    const bool parameter = behind == "=>" || behind == ":" ||
        ((before == "(" || before == ",") &&
            (behind == "," || behind == ")" || behind == ":" || behind == "=" || behind == "?"));
    if (declared && behind == "=") {
      found = true;
      harmless = harmless || text(i + 2) == "Symbol";
    } else {
      harmless = harmless || parameter || (declared && (behind == "of" || behind == "in"));
    }
  }
  work_->unknown_names.emplace(name, found && !harmless);
  return found && !harmless;
}

// class NAME, or import { NAME } from ..
bool ViewBuilder::is_own_class(std::string_view name) const noexcept {
  constexpr std::size_t kClauseMax = 64;
  const auto text = [&](std::size_t i) { return source_of(main_tokens_[i]); };
  for (std::size_t i = 1; i < main_tokens_.size(); ++i) {
    if (main_tokens_[i].kind != TokenKind::word || text(i) != name) continue;
    if (text(i - 1) == "class") return true;
    for (std::size_t back = i; back-- > 0 && i - back < kClauseMax;) {
      const std::string_view before = text(back);
      if (before == "import") return true;
      if (main_tokens_[back].kind != TokenKind::word && before != "{" && before != ",") break;
    }
  }
  return false;
}

// NAME.process where NAME is declared once, as an object whose `process` is made by a class that the file imports or
// declares, and is nowhere given another value. Only who hands the real `process` on could change that, and that is
// told.
bool ViewBuilder::is_member_of_own_object(std::string_view object, std::string_view member) {
  if (main_tokens_.empty() || !is_root_name(member) || !is_identifier(object) || is_tracked_path(object)) return false;
  const auto text = [&](std::size_t i) {
    return i < main_tokens_.size() ? source_of(main_tokens_[i]) : std::string_view();
  };
  work_->scanned += main_tokens_.size();
  if (work_->scanned > kScanFactor * main_tokens_.size()) return false;
  bool made = false;
  for (std::size_t i = 1; i < main_tokens_.size(); ++i) {
    const std::string_view word = text(i);
    if (main_tokens_[i].escaped || word == "eval" || word == "with") return false;
    if (main_tokens_[i].kind != TokenKind::word || word != object || text(i - 1) == ".") continue;
    if (text(i + 1) == "." && text(i + 3) != "=") continue;
    // const NAME = { member: new Class(..) }
    const std::string_view made_by = text(i + 6);
    const bool declared = text(i - 1) == "const" && text(i + 1) == "=" && text(i + 2) == "{" && text(i + 3) == member &&
        text(i + 4) == ":" && text(i + 5) == "new" && text(i + 7) == "(";
    if (!declared || made || is_tracked_path(made_by) || !is_own_class(made_by)) return false;
    const NameTable::Meaning* const meaning = names_.find(made_by);
    if (meaning != nullptr && !meaning->aliases.empty()) return false;
    std::size_t depth = 0;
    std::size_t close = i + 7;
    for (; close < main_tokens_.size(); ++close) {
      if (text(close) == "(") ++depth;
      if (text(close) == ")" && --depth == 0) break;
    }
    if (text(close + 1) != "}") return false;  // no other member, no operator behind it
    made = true;
  }
  return made;
}

}  // namespace guard
