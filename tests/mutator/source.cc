#include "tests/mutator/source.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace guard::mutator {
namespace {

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_keyword(std::string_view word) {
  return one_of(word,
      {"break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum",
          "export", "extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof", "let", "new",
          "null", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void",
          "while", "with", "yield", "await", "async", "as", "satisfies", "type", "interface", "declare", "of", "get",
          "set", "private", "public", "readonly", "abstract", "namespace", "keyof", "is", "from", "undefined",
          "arguments", "protected", "accessor", "require_"});
}

}  // namespace

Program apply(const Program& program, std::vector<Edit> edits) {
  std::sort(edits.begin(), edits.end(),
      [](const Edit& a, const Edit& b) { return std::tie(a.begin, a.end) > std::tie(b.begin, b.end); });
  Program result = program;
  for (const Edit& edit : edits) {
    result.text.replace(edit.begin, edit.end - edit.begin, edit.text);
    const std::size_t old_size = edit.end - edit.begin;
    for (Range& focus : result.focus) {
      if (edit.end < focus.begin) {
        focus.begin = focus.begin - old_size + edit.text.size();
        focus.end = focus.end - old_size + edit.text.size();
      } else if (edit.begin <= focus.end) {
        focus.begin = std::min(focus.begin, edit.begin);
        focus.end = std::max(focus.end, edit.end) - old_size + edit.text.size();
      }
    }
  }
  return result;
}

Source::Source(const Program& program) : text_(program.text), focus_(program.focus) {
  lex(text_, markup_of("a.ts"), lexed_);
  partners_.assign(size(), kNone);
  enclosing_.assign(size(), kNone);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < size(); ++i) {
    const TokenKind kind = token(i).kind;
    const bool opens = kind == TokenKind::template_open || kind == TokenKind::substitution_open || is(i, "(") ||
        is(i, "[") || is(i, "{");
    const bool closes = kind == TokenKind::template_close || kind == TokenKind::substitution_close || is(i, ")") ||
        is(i, "]") || is(i, "}");
    if (closes && !open.empty()) {
      partners_[i] = open.back();
      partners_[open.back()] = i;
      open.pop_back();
    }
    enclosing_[i] = open.empty() ? kNone : open.back();
    if (opens) open.push_back(i);
  }
}

std::string_view Source::at(std::size_t i) const {
  return i < size() ? text().substr(token(i).begin, token(i).end - token(i).begin) : std::string_view();
}

bool Source::is_name(std::size_t i) const {
  return is_kind(i, TokenKind::word) && !is_keyword(at(i)) && at(i)[0] != '#' && at(i)[0] != '@';
}

std::string_view Source::between(std::size_t first, std::size_t last) const {
  return text().substr(token(first).begin, token(last).end - token(first).begin);
}

bool Source::in_focus(std::size_t i) const {
  return std::any_of(focus_.begin(), focus_.end(),
      [&](const Range& range) { return token(i).begin < range.end && token(i).end > range.begin; });
}

bool Source::has_word(std::string_view word) const { return text().find(word) != std::string_view::npos; }

std::string Source::fresh_name(std::size_t choice) const {
  static constexpr std::array<std::string_view, 12> kNames = {
      "rt", "helper", "$x", "_y", "ctx9", "sut", "aux", "zz", "w0w", "Tool", "thing_", "kit"};
  std::string name(kNames[choice % kNames.size()]);
  while (has_word(name)) name += static_cast<char>('a' + choice % 26);
  return name;
}

bool Source::is_module() const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (is(i, "import") || is(i, "export") || is(i, "await")) return true;
  }
  return false;
}

bool Source::in_type(std::size_t i) const {
  const std::string_view before = at(i - 1);
  if (one_of(before, {"typeof", "as", "satisfies", "<", "keyof", "|", "&", "is", "infer", "extends", "implements"}))
    return true;
  if (before != ":") return false;
  // A value of an object, or what a name is declared to be?
  const std::size_t opener = enclosing(i);
  if (!is(opener, "{")) return true;
  const bool key = is(i - 3, "{") || is(i - 3, ",");
  return !key || is(opener - 1, "=>") || is(opener - 1, "class");
}

bool Source::in_pattern(std::size_t i) const {
  for (std::size_t opener = enclosing(i); opener != kNone; opener = enclosing(opener)) {
    if (!is(opener, "{") && !is(opener, "[")) return false;
    const std::size_t behind = partner(opener) == kNone ? kNone : partner(opener) + 1;
    if (is(behind, "=") || is(behind, "of") || is(behind, "in")) return true;
    if (one_of(at(opener - 1), {"const", "let", "var"})) return true;
  }
  return false;
}

bool Source::is_reference(std::size_t i) const {
  if (!is_name(i)) return false;
  const std::string_view before = at(i - 1);
  const std::string_view behind = at(i + 1);
  if (one_of(before,
          {".", "?.", "function", "class", "const", "let", "var", "import", "enum", "interface", "type", "namespace",
              "get", "set", "@", "#", "infer", "catch", "*"}))
    return false;
  if (one_of(behind, {"=>", "from", "as"})) return behind == "as" && is(i - 1, "(") && !is(enclosing(i), "{");
  if (in_type(i) || in_pattern(i)) return false;
  const std::size_t opener = enclosing(i);
  if (is(opener, "{")) {
    if ((before == "{" || before == ",") && (behind == "," || behind == "}" || behind == ":")) return false;
    if (one_of(at(opener - 1), {"import", "export", "type", "const", "let", "var"})) return false;
  }
  if (is(opener, "(")) {
    const std::size_t close = partner(opener);
    if (close == kNone || is(opener - 1, "catch")) return false;
    const bool parameters = is(close + 1, "=>") ||
        (is(close + 1, "{") && !one_of(at(opener - 1), {"if", "while", "for", "switch"})) ||
        (is(close + 1, ":") && (is_name(opener - 1) || before == "(" || before == ","));
    if (parameters) return false;
    if (behind == ":" && (before == "(" || before == ",")) return false;
  }
  if (behind == ":" && opener == kNone) return false;  // a label
  if (behind == "(" && partner(i + 1) != kNone && (is(partner(i + 1) + 1, "{") || is(partner(i + 1) + 1, ":")))
    return false;  // a method, or what may be one
  if (behind == "?" && is(i + 2, ":")) return false;
  if (before == "=" && is(i - 3, "import")) return false;  // import x = require("m")
  return true;
}

bool Source::references(std::string_view name, std::vector<std::size_t>& out) const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!is(i, name) || !is_kind(i, TokenKind::word)) continue;
    if (is(i - 1, ".") || is(i - 1, "?.")) continue;
    if (is(i + 1, ":") && (is(i - 1, "{") || is(i - 1, ","))) continue;  // a key
    if (!is_reference(i)) return false;
    out.push_back(i);
  }
  return true;
}

bool Source::is_module_name(std::size_t i) const {
  if (!is_kind(i, TokenKind::string)) return false;
  return is(i - 1, "from") || (is(i - 1, "import") && !is(i - 2, "."));
}

std::size_t Source::text_end(std::size_t i) const { return is_kind(i, TokenKind::template_open) ? partner(i) : i; }

bool Source::is_text_expression(std::size_t i) const {
  if (is_kind(i, TokenKind::template_open)) {
    const std::size_t close = partner(i);
    if (close == kNone || (close != i + 1 && !(close == i + 2 && is_kind(i + 1, TokenKind::template_text))))
      return false;
  } else if (!is_kind(i, TokenKind::string) || token(i).markup) {
    return false;
  }
  const std::size_t last = text_end(i);
  const std::string_view before = at(i - 1);
  if (!one_of(before,
          {"(", ",", "[", "=", "+", "return", "=>", "?", "&&", "||", "??", "==", "===", "!=", "!==", ":", "${"}))
    return false;
  if (is(last + 1, ":") && before != "?") return false;
  if (before == ":") {
    const std::size_t opener = enclosing(i);
    if (!is(opener, "{") || in_type(i) || one_of(at(opener - 1), {"with", "assert"})) return false;
  }
  if (before == "," && is(enclosing(i), "{") && is(last + 1, "(")) return false;
  if (before == "=" && is(i - 3, "type")) return false;
  return !is_kind(last + 1, TokenKind::template_open) || token(last + 1).line_before;
}

bool Source::plain_value(std::size_t i, std::string& out) const {
  out = between(i, text_end(i));
  out = out.substr(1, out.size() - 2);
  return std::all_of(out.begin(), out.end(), [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
}

std::size_t Source::chain_begin(std::size_t i) const {
  for (;;) {
    if (is_kind(i, TokenKind::word)) {
      if (is(i - 1, ".") || is(i - 1, "?.")) {
        if (i < 2) return kNone;
        i -= 2;
        continue;
      }
      return is_name(i) || one_of(at(i), {"this", "super", "import"}) ? i : kNone;
    }
    if (is(i, ")") || is(i, "]")) {
      const std::size_t open = partner(i);
      if (open == kNone) return kNone;
      if (open == 0) return open;
      const std::size_t before = open - 1;
      if (is(before, "?.")) {
        i = before - 1;
        continue;
      }
      const bool postfix = is_name(before) || is(before, ")") || is(before, "]") || is(before, "this") ||
          is(before, "import") || is(before, "super") || is(before - 1, ".");
      if (!postfix) return open;
      if (is(before, ">") || token(open).line_before) return kNone;
      i = before;
      continue;
    }
    if (is(i, "!") && i > 0 && (is_kind(i - 1, TokenKind::word) || is(i - 1, ")") || is(i - 1, "]"))) {
      --i;
      continue;
    }
    if (is_kind(i, TokenKind::string) && is_text_expression(i)) return i;
    return kNone;
  }
}

std::size_t Source::chain_end(std::size_t i) const {
  for (;;) {
    const std::size_t next = i + 1;
    if ((is(next, ".") || is(next, "?.")) && is_kind(next + 1, TokenKind::word)) {
      i = next + 1;
    } else if (is(next, "?.") && partner(next + 1) != kNone) {
      i = partner(next + 1);
    } else if ((is(next, "(") || is(next, "[")) && partner(next) != kNone) {
      i = partner(next);
    } else if (is_kind(next, TokenKind::template_open) && partner(next) != kNone) {
      i = partner(next);
    } else if (is(next, "!") && !token(next).line_before &&
        (is(next + 1, ".") || is(next + 1, "[") || is(next + 1, "("))) {
      i = next;
    } else {
      return i;
    }
  }
}

bool Source::is_read(std::size_t begin, std::size_t end) const {
  if (begin > 0 && one_of(at(begin - 1), {"new", "delete", "++", "--", "@", "function", "class", "extends", "import"}))
    return false;
  if (in_type(begin) || in_pattern(begin)) return false;
  const std::string_view behind = at(end + 1);
  if (behind == "=" || behind == "++" || behind == "--" || behind == "of" || behind == "=>") return false;
  if (behind.size() > 1 && behind.back() == '=' && !one_of(behind, {"==", "===", "!=", "!==", "<=", ">="}))
    return false;
  for (std::size_t i = begin; i <= end; ++i) {
    if (is_kind(i, TokenKind::template_open) && enclosing(i) == enclosing(begin)) return false;
  }
  return true;
}

bool Source::may_open_bracket(std::size_t i) const {
  if (i == 0) return true;
  if (is_kind(i - 1, TokenKind::word))
    return one_of(at(i - 1), {"return", "await", "typeof", "in", "of", "void"}) && !token(i).line_before;
  return one_of(
      at(i - 1), {";", "(", ",", "=", "=>", "+", "?", ":", "&&", "||", "??", "[", "{", "${", "...", "==", "==="});
}

bool Source::may_insert_blank(std::size_t i) const {
  if (i >= size()) return false;
  const TokenKind right = token(i).kind;
  if (right == TokenKind::template_text || right == TokenKind::template_close ||
      right == TokenKind::substitution_open || right == TokenKind::markup_text)
    return false;
  if (i == 0) return true;
  const TokenKind left = token(i - 1).kind;
  if (left == TokenKind::template_text || left == TokenKind::template_open || left == TokenKind::substitution_close ||
      left == TokenKind::markup_text)
    return false;
  // The lexer splits `>>`, which an engine does not.
  return !(is(i, ">") || is(i - 1, ">") || is(i, "<") || is(i - 1, "<") || is(i, "=") || is(i - 1, "#"));
}

bool Source::may_break_line(std::size_t i) const {
  if (!may_insert_blank(i)) return false;
  if (is(i, "require") && is(i - 1, "=")) return false;  // import x = require("m"): bun wants it on one line
  if (one_of(at(i), {"=>", "++", "--", "!", "as", "satisfies", "is", "with"})) return false;
  if (is_kind(i, TokenKind::template_open) && i > 0 && chain_begin(i - 1) == kNone) return true;
  return !one_of(at(i - 1),
      {"return", "throw", "break", "continue", "async", "yield", "type", "declare", "abstract", "get", "set", "static",
          "namespace", "interface", "export", "private", "public", "readonly", "protected", "enum"});
}

std::vector<Call> Source::calls() const {
  std::vector<Call> found;
  for (std::size_t open = 1; open < size(); ++open) {
    if (!is(open, "(") || partner(open) == kNone) continue;
    const std::size_t last = open - 1;
    if (!(is_name(last) || is(last, "]") || (is_kind(last, TokenKind::word) && is(last - 1, ".")))) continue;
    const std::size_t begin = chain_begin(last);
    const std::size_t close = partner(open);
    if (begin == kNone || is(begin, "super") || !is_read(begin, last)) continue;
    if (is(close + 1, "{") || is(close + 1, "=>") || is(close + 1, ":")) continue;
    if (begin == last && !is_reference(last)) continue;
    if (is(last, "]") && partner(last) == begin && !may_open_bracket(begin)) continue;
    found.push_back({begin, open, close});
  }
  return found;
}

std::vector<Range> Source::statements() const {
  std::vector<Range> found;
  for (std::size_t i = 0; i < size(); ++i) {
    const bool starts = i == 0 || is(i - 1, ";") || (is(i - 1, "{") && token(i).line_before);
    if (!starts || !(is_name(i) || is(i, "await"))) continue;
    if (is(i - 1, "{") && !is(i - 2, "=>") && !is(i - 2, ")")) continue;
    // for (;;) has semicolons too.
    if (enclosing(i) != kNone && !is(enclosing(i), "{")) continue;
    if (is(enclosing(i), "{") && !is(enclosing(i) - 1, "=>") && !is(enclosing(i) - 1, ")")) continue;
    if (is(i + 1, ":") || is(i + 1, "=") || is_kind(i + 1, TokenKind::word)) {
      if (!is(i, "await")) continue;
    }
    for (std::size_t end = i; end < size() && !is(end, "}"); ++end) {
      if (is(end, ";")) {
        found.push_back({i, end});
        break;
      }
      if (is(end, "(") || is(end, "[") || is(end, "{") || is_kind(end, TokenKind::template_open)) {
        if (partner(end) == kNone) break;
        end = partner(end);
      }
    }
  }
  return found;
}

std::size_t Source::body_begin(std::size_t i) const {
  for (std::size_t opener = enclosing(i); opener != kNone; opener = enclosing(opener)) {
    if (is(opener, "{") && is(opener - 1, "=>")) return token(opener).end;
  }
  return 0;
}

}  // namespace guard::mutator
