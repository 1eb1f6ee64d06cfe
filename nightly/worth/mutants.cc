#include "nightly/worth/mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "nightly/worth/script_tokens.h"
#include "pipeline/gate/source_files.h"

namespace guard::nightly {
namespace {

constexpr std::size_t kNone = ScriptTokens::kNone;
constexpr std::size_t kKinds = 9;

struct Swap {
  std::string_view from;
  std::string_view to;
  MutantKind kind;
};

// The other side of each, not its neighbour: `<` against `<=` differs in one value alone, and a good test need not hold
// it.
constexpr Swap kSwaps[] = {
    {"===", "!==", MutantKind::comparison},
    {"!==", "===", MutantKind::comparison},
    {"==", "!=", MutantKind::comparison},
    {"!=", "==", MutantKind::comparison},
    {"<", ">=", MutantKind::comparison},
    {">", "<=", MutantKind::comparison},
    {"<=", ">", MutantKind::comparison},
    {">=", "<", MutantKind::comparison},
    {"+", "-", MutantKind::arithmetic},
    {"-", "+", MutantKind::arithmetic},
    {"*", "/", MutantKind::arithmetic},
    {"/", "*", MutantKind::arithmetic},
    {"%", "*", MutantKind::arithmetic},
    {"**", "*", MutantKind::arithmetic},
    {"+=", "-=", MutantKind::arithmetic},
    {"-=", "+=", MutantKind::arithmetic},
    {"*=", "+=", MutantKind::arithmetic},
    {"++", "--", MutantKind::arithmetic},
    {"--", "++", MutantKind::arithmetic},
    {"&&", "||", MutantKind::logic},
    {"||", "&&", MutantKind::logic},
    {"??", "&&", MutantKind::logic},
};

class Places {
 public:
  Places(std::string_view path, std::string_view bytes) : script_(path, bytes) {}

  std::vector<TextMutant> find() {
    if (!script_.is_readable()) return {};
    leave_out_types_and_imports();
    for (std::size_t i = 0; i < script_.size(); ++i) {
      if (left_out_[i]) continue;
      operators(i);
      conditions(i);
      negations(i);
      results(i);
      literals(i);
    }
    put_in_order();
    return std::move(found_);
  }

 private:
  bool is_member(std::size_t i) const { return i > 0 && (script_.is(i - 1, ".") || script_.is(i - 1, "?.")); }
  // A name of a property: `{ if: 1 }`, `x.if`, a method.
  bool is_keyword(std::size_t i, std::string_view word) const {
    return script_.is_word(i) && script_.is(i, word) && !is_member(i) && !script_.is(i + 1, ":") &&
        !script_.is(i + 1, "=");
  }

  // Not a key: `{ true: 1 }`; in `a ? true : b` it is a value.
  bool is_value(std::size_t i, std::string_view word) const {
    const bool key = script_.is(i + 1, ":") && i > 0 && (script_.is(i - 1, "{") || script_.is(i - 1, ","));
    return script_.is(i, word) && !is_member(i) && !key;
  }

  void leave_out(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i <= last && i < left_out_.size(); ++i) left_out_[i] = true;
  }

  bool begins_statement(std::size_t i) const {
    if (i == 0) return true;
    return script_.token(i).line_before || script_.is_any(i - 1, {";", "}", "{", "export", "declare", "default"});
  }

  // The last token of a declaration that begins at i: at a semicolon, behind the first block, or at a line end that
  // nothing leads over.
  std::size_t declaration_end(std::size_t i, bool ends_with_block) const {
    for (std::size_t at = i + 1; at < script_.size(); ++at) {
      if (script_.is_punctuator(at, ";")) return at;
      if (script_.is_punctuator(at, "}")) return at - 1;
      if (script_.token(at).line_before && !ends_with_block) {
        const auto leads_on = [&](std::size_t token) {
          return script_.is_any(
              token, {"=", "|", "&", "?", ":", "<", ",", "=>", "extends", "keyof", "typeof", "readonly"});
        };
        if (!leads_on(at) && !leads_on(at - 1)) return at - 1;
      }
      const bool opens = script_.is_punctuator(at, "(") || script_.is_punctuator(at, "[") ||
          script_.is_punctuator(at, "{") || script_.is_kind(at, TokenKind::template_open);
      if (!opens) continue;
      const std::size_t close = script_.partner(at);
      if (close == kNone) return script_.size() - 1;
      if (ends_with_block && script_.is(at, "{")) return close;
      at = close;
    }
    return script_.size() - 1;
  }

  void leave_out_types_and_imports() {
    left_out_.assign(script_.size(), false);
    for (std::size_t i = 0; i < script_.size(); ++i) {
      if (!script_.is_word(i) || is_member(i) || !begins_statement(i)) continue;
      const std::string_view word = script_.at(i);
      const bool named = script_.is_word(i + 1);
      const bool imports = word == "import" && !script_.is(i + 1, "(") && !script_.is(i + 1, ".");
      const bool exports = word == "export" &&
          (script_.is(i + 1, "*") || script_.is(i + 1, "{") ||
              (script_.is(i + 1, "type") && (script_.is(i + 2, "{") || script_.is(i + 2, "*"))));
      if (imports || exports) {
        leave_out_up_to_module_name(i);
      } else if (word == "interface" && named) {
        leave_out(i, declaration_end(i, true));
      } else if (word == "type" && named && (script_.is(i + 2, "=") || script_.is(i + 2, "<"))) {
        leave_out(i, declaration_end(i, false));
      } else if (word == "declare" && named) {
        leave_out(i, declaration_end(i, script_.is_any(i + 1, {"global", "module", "namespace", "class", "enum"})));
      }
    }
  }

  // Of `import ... "x"`, `export { ... } from "x"` and `export { ... }`.
  void leave_out_up_to_module_name(std::size_t i) {
    std::size_t at = i + 1;
    for (;
         at < script_.size() && !script_.is_kind(at, TokenKind::string) && !script_.is(at, ";") && !script_.is(at, "=");
         ++at) {
      if (script_.is(at, "{") && script_.partner(at) != kNone) {
        at = script_.partner(at);
        if (!script_.is(at + 1, "from") && !script_.is(at + 1, ",")) break;
      }
    }
    leave_out(i, at);
    // import x from "./x.json" with { type: "json" }
    if ((script_.is(at + 1, "with") || script_.is(at + 1, "assert")) && script_.is(at + 2, "{") &&
        script_.partner(at + 2) != kNone)
      leave_out(at, script_.partner(at + 2));
  }

  void add(MutantKind kind, std::size_t first, std::size_t last, std::string with, std::string what) {
    TextMutant mutant;
    mutant.kind = kind;
    mutant.begin = script_.token(first).begin;
    mutant.end = script_.token(last).end;
    if (script_.text().substr(mutant.begin, mutant.end - mutant.begin) == with) return;
    mutant.with = std::move(with);
    mutant.what = std::move(what);
    found_.push_back(std::move(mutant));
  }

  bool has_blanks_around(std::size_t first, std::size_t last) const {
    return first > 0 && last + 1 < script_.size() && !script_.joins(first) && !script_.joins(last + 1);
  }

  void operators(std::size_t i) {
    if (!script_.is_kind(i, TokenKind::punctuator) || i == 0 || i + 1 >= script_.size()) return;
    // The lexer keeps `<` and `>` by themselves, because they may be brackets of types and markup.
    if (script_.joins(i) && script_.is_any(i - 1, {"<", ">"})) return;
    std::size_t last = i;
    if (script_.is_any(i, {"<", ">", "/"}) && script_.joins(i + 1) && script_.is_kind(i + 1, TokenKind::punctuator)) {
      if (!script_.is(i, "<") || !script_.is(i + 1, "=")) return;
      ++last;
    }
    const std::string_view from =
        script_.text().substr(script_.token(i).begin, script_.token(last).end - script_.token(i).begin);
    const bool steps = from == "++" || from == "--";
    if (!steps && !script_.ends_operand(i - 1)) return;
    // Blanks on both sides tell a comparison from the brackets of types and tags, as everybody writes them.
    if ((from == "<" || from == ">") && !has_blanks_around(i, last)) return;
    // function *, yield *, a method *name(): nothing to multiply.
    if ((from == "*" || from == "**") &&
        (is_keyword(i - 1, "function") || is_keyword(i - 1, "async") || script_.is(i - 1, "}")))
      return;
    // `a */x/` would become a comment.
    if (from == "*" &&
        (script_.text()[script_.token(last).end] == '/' || script_.text()[script_.token(i).begin - 1] == '/'))
      return;
    for (const Swap& swap : kSwaps) {
      if (swap.from == from)
        return add(swap.kind, i, last, std::string(swap.to), fmt::format("`{}` became `{}`", swap.from, swap.to));
    }
  }

  void conditions(std::size_t i) {
    const bool loop = is_keyword(i, "while");
    if (!loop && !is_keyword(i, "if")) return;
    if (!script_.is(i + 1, "(")) return;
    const std::size_t close = script_.partner(i + 1);
    if (close == kNone || close <= i + 2 || !script_.only_blanks(i + 1, close)) return;
    const std::string_view word = script_.at(i);
    add(MutantKind::condition, i + 2, close - 1, "false", fmt::format("the condition of `{}` became false", word));
    if (loop) return;
    add(MutantKind::condition, i + 2, close - 1, "true", "the condition of `if` became true");
    const auto text =
        script_.text().substr(script_.token(i + 2).begin, script_.token(close - 1).end - script_.token(i + 2).begin);
    add(MutantKind::condition, i + 2, close - 1, fmt::format("!({})", text), "the condition of `if` was negated");
  }

  void negations(std::size_t i) {
    // Behind an operand it says that something is not null.
    if (!script_.is_punctuator(i, "!") ||
        (i > 0 && script_.ends_operand(i - 1) && !(script_.is(i - 1, ")") && script_.token(i).line_before)))
      return;
    // Of `!!x` the second one is taken.
    if (i + 1 >= script_.size() || script_.is_punctuator(i + 1, "!")) return;
    add(MutantKind::negation, i, i, "", "`!` was removed");
  }

  void results(std::size_t i) {
    const bool arrow = script_.is_punctuator(i, "=>");
    if (!arrow && !is_keyword(i, "return")) return;
    const std::size_t first = i + 1;
    if (first >= script_.size() || (!arrow && script_.token(first).line_before)) return;
    if (script_.is_any(first, {";", "}", "undefined"}) || (arrow && script_.is(first, "{"))) return;
    const std::size_t last = script_.expression_end(first, arrow);
    if (last == kNone || last < first || !script_.only_blanks(first, last)) return;
    add(MutantKind::result, first, last, "undefined",
        arrow ? "the result of a function became undefined" : "`return` gave undefined");
  }

  void literals(std::size_t i) {
    switch (script_.token(i).kind) {
      case TokenKind::word:
        if (is_value(i, "true")) add(MutantKind::boolean, i, i, "false", "`true` became `false`");
        if (is_value(i, "false")) add(MutantKind::boolean, i, i, "true", "`false` became `true`");
        break;
      case TokenKind::number: number(i); break;
      case TokenKind::string: string(i); break;
      case TokenKind::template_text:
        if (script_.is_kind(i - 1, TokenKind::template_open) && script_.is_kind(i + 1, TokenKind::template_close))
          add(MutantKind::text, i, i, "", "a text became empty");
        break;
      default: break;
    }
  }

  void number(std::size_t i) {
    const std::string_view text = script_.at(i);
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || (digits > 1 && text[0] == '0')) return;
    // 0x1f, 0b1, 0o7; digits with _ between them.
    if (digits < text.size() && text[digits] != '.' && text[digits] != 'e' && text[digits] != 'E' &&
        text[digits] != 'n')
      return;
    std::string with(text.substr(0, digits));
    std::size_t at = digits;
    while (at > 0 && with[at - 1] == '9') with[--at] = '0';
    if (at == 0) {
      with.insert(with.begin(), '1');
    } else {
      ++with[at - 1];
    }
    with += text.substr(digits);
    std::string what = fmt::format("`{}` became `{}`", text, with);
    add(MutantKind::number, i, i, std::move(with), std::move(what));
  }

  void string(std::size_t i) {
    const std::string_view text = script_.at(i);
    if (text.size() <= 2) return;
    // The name of a module, a directive, a type of texts.
    if (script_.is(i - 1, "(") && i >= 2 && script_.is_any(i - 2, {"require", "import"})) return;
    if (script_.is_any(i - 1, {"from", "import", "|"}) || script_.is(i + 1, "|")) return;
    if (begins_statement(i) && (script_.is(i + 1, ";") || i + 1 == script_.size() || script_.token(i + 1).line_before))
      return;
    add(MutantKind::text, i, i, fmt::format("{}{}", text.front(), text.back()), "a text became empty");
  }

  void put_in_order() {
    const auto place = [](const TextMutant& mutant) { return std::tie(mutant.begin, mutant.end, mutant.with); };
    std::stable_sort(
        found_.begin(), found_.end(), [&](const TextMutant& a, const TextMutant& b) { return place(a) < place(b); });
    // The condition `true` became false, and so did `true`.
    found_.erase(std::unique(found_.begin(), found_.end(),
                     [&](const TextMutant& a, const TextMutant& b) { return place(a) == place(b); }),
        found_.end());
    std::uint32_t line = 1;
    std::size_t at = 0;
    const std::string_view text = script_.text();
    for (auto& mutant : found_) {
      for (; at < mutant.begin; ++at) {
        if (text[at] == '\n' || (text[at] == '\r' && (at + 1 >= text.size() || text[at + 1] != '\n'))) ++line;
      }
      mutant.line = line;
    }
  }

  ScriptTokens script_;
  std::vector<bool> left_out_;
  std::vector<TextMutant> found_;
};

// 0, the middle, the quarters, ...: whoever takes the first few has some of everywhere.
std::vector<std::size_t> spread(std::size_t count) {
  std::vector<std::size_t> order;
  std::vector<bool> taken(count, false);
  for (std::size_t parts = 1; order.size() < count; parts *= 2) {
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t at = part * count / parts;
      if (taken[at]) continue;
      taken[at] = true;
      order.push_back(at);
    }
  }
  return order;
}

void take_spread(const std::vector<TextMutant>& all, std::size_t max, std::vector<TextMutant>& out) {
  std::array<std::vector<const TextMutant*>, kKinds> kinds;
  for (const auto& mutant : all) kinds[static_cast<std::size_t>(mutant.kind)].push_back(&mutant);
  std::array<std::vector<std::size_t>, kKinds> orders;
  for (std::size_t kind = 0; kind < kKinds; ++kind) orders[kind] = spread(kinds[kind].size());
  for (std::size_t round = 0; round < all.size() && out.size() < max; ++round) {
    for (std::size_t kind = 0; kind < kKinds && out.size() < max; ++kind) {
      if (round < orders[kind].size()) out.push_back(*kinds[kind][orders[kind][round]]);
    }
  }
}

}  // namespace

std::vector<TextMutant> mutants_of(
    std::string_view path, std::string_view bytes, std::size_t max, const LineHits& first) {
  if (!is_code_name(path) || is_declaration(path)) return {};
  std::vector<TextMutant> all = Places(path, bytes).find();
  const auto middle = std::stable_partition(
      all.begin(), all.end(), [&](const TextMutant& mutant) { return first.count(mutant.line) != 0; });
  std::vector<TextMutant> chosen;
  take_spread({all.begin(), middle}, max, chosen);
  take_spread({middle, all.end()}, max, chosen);
  return chosen;
}

std::string mutated(std::string_view bytes, const TextMutant& mutant) {
  return fmt::format("{}{}{}", bytes.substr(0, mutant.begin), mutant.with, bytes.substr(mutant.end));
}

}  // namespace guard::nightly
