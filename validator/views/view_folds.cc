// The part of the view builder that judges what stands for a global by a name that is computed.
#include <string>

#include "validator/views/view_builder.h"

namespace guard {
namespace {

constexpr std::uint64_t kScanFactor = 32;  // of all tokens, to find what names are given

}  // namespace

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
  if (const auto known = unknown_names_.find(name); known != unknown_names_.end()) return known->second;
  scanned_ += main_tokens_.size();
  if (scanned_ > kScanFactor * main_tokens_.size()) return true;
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
  unknown_names_.emplace(name, found && !harmless);
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
  scanned_ += main_tokens_.size();
  if (scanned_ > kScanFactor * main_tokens_.size()) return false;
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
