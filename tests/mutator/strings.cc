// Other spellings of texts: escapes, quotes, and expressions that have the same value.
#include <fmt/format.h>

#include <algorithm>

#include "tests/mutator/mutation.h"

namespace guard::mutator {
namespace {

std::string quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool opens = quote == '`' && text[i] == '$' && i + 1 < text.size() && text[i + 1] == '{';
    if (text[i] == quote || text[i] == '\\' || opens) out += '\\';
    out += text[i];
  }
  return out + quote;
}

std::string any_quotes(std::string_view text, Random& random) { return quoted(text, random.pick({'"', '\'', '`'})); }

std::string base64(std::string_view text) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8U | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k <= text.size() ? kDigits[bits >> (18U - 6U * k) & 63U] : '=';
    }
  }
  return out;
}

std::string each_byte(std::string_view text, std::string_view between, std::string (*spell)(unsigned char)) {
  std::string out;
  for (const char c : text) {
    if (!out.empty()) out += between;
    out += spell(static_cast<unsigned char>(c));
  }
  return out;
}

// ---- escapes inside of the quotes ----

using Escape = std::string (*)(char c);

bool escape_some(const Source& source, Random& random, std::vector<Edit>& edits, Escape escape) {
  std::vector<std::size_t> sites;
  for (std::size_t i = 0; i < source.size(); ++i) {
    std::string value;
    const bool text = source.is_text_expression(i) || source.is_module_name(i);
    if (text && source.plain_value(i, value) && !value.empty()) sites.push_back(i);
  }
  const std::size_t site = pick_site(source, sites, random);
  if (site == kNone) return false;
  const Range range = source.range(site, source.text_end(site));
  const std::string_view inner = source.text().substr(range.begin + 1, range.end - range.begin - 2);
  const std::size_t some = random.below(inner.size());
  const bool all = random.one_in(4);
  std::string out;
  bool changed = false;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    // `\` + `${` would be two spellings at once.
    const std::string spelled = all || i == some || random.one_in(6) ? escape(inner[i]) : "";
    const bool special = inner[i] == '$' || inner[i] == '{' || inner[i] == '\'' || inner[i] == '"' || inner[i] == '`';
    changed |= !spelled.empty() && !special;
    out += spelled.empty() || special ? std::string(1, inner[i]) : spelled;
  }
  if (!changed) return false;
  edits.push_back({range.begin + 1, range.end - 1, out});
  return true;
}

bool hex_escape(const Source& source, Random& random, std::vector<Edit>& edits) {
  return escape_some(source, random, edits, [](char c) { return fmt::format("\\x{:02x}", static_cast<unsigned>(c)); });
}
bool unicode_escape(const Source& source, Random& random, std::vector<Edit>& edits) {
  return escape_some(source, random, edits, [](char c) { return fmt::format("\\u{:04X}", static_cast<unsigned>(c)); });
}
bool braced_escape(const Source& source, Random& random, std::vector<Edit>& edits) {
  return escape_some(
      source, random, edits, [](char c) { return fmt::format("\\u{{00{:x}}}", static_cast<unsigned>(c)); });
}
// Only sloppy code has them.
bool octal_escape(const Source& source, Random& random, std::vector<Edit>& edits) {
  if (source.is_module()) return false;
  std::vector<Edit> found;
  if (!escape_some(source, random, found, [](char c) { return fmt::format("\\{:03o}", static_cast<unsigned>(c)); }) ||
      source.text()[found[0].begin - 1] == '`')
    return false;
  edits = std::move(found);
  return true;
}
bool vain_escape(const Source& source, Random& random, std::vector<Edit>& edits) {
  return escape_some(source, random, edits, [](char c) -> std::string {
    const bool means_itself =
        std::string_view("acdeghijklmopqswyzACDEFGHIJKLMNOPQRSTUVWXYZ./-_ ").find(c) != std::string_view::npos;
    return means_itself ? std::string("\\") + c : std::string();
  });
}
bool line_continuation(const Source& source, Random& random, std::vector<Edit>& edits) {
  return escape_some(source, random, edits, [](char c) { return std::string("\\\n") + c; });
}

// ---- the same value, said by an expression ----

using Spell = std::string (*)(const std::string& value, Random& random);

bool say_otherwise(const Source& source, Random& random, std::vector<Edit>& edits, Spell spell) {
  std::vector<std::size_t> sites;
  for (std::size_t i = 0; i < source.size(); ++i) {
    std::string value;
    if (source.is_text_expression(i) && source.plain_value(i, value) && value.size() >= 2) sites.push_back(i);
  }
  const std::size_t site = pick_site(source, sites, random);
  if (site == kNone) return false;
  const std::size_t last = source.text_end(site);
  std::string value;
  source.plain_value(site, value);
  std::string text = spell(value, random);
  // Alone between brackets and commas it needs no parentheses.
  const bool alone = (source.is(last + 1, ")") || source.is(last + 1, ",") || source.is(last + 1, "]")) &&
      (source.is(site - 1, "(") || source.is(site - 1, ",") || source.is(site - 1, "["));
  if (!alone || random.one_in(5)) text = "(" + text + ")";
  const Range range = source.range(site, last);
  edits.push_back({range.begin, range.end, text});
  return true;
}

std::vector<std::string> pieces(const std::string& value, Random& random, std::size_t longest) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t size = std::min(value.size() - at, 1 + random.below(longest));
    out.push_back(value.substr(at, size));
    at += size;
  }
  return out;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between, Random& random) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += between;
    out += any_quotes(part, random);
  }
  return out;
}

std::string say_sum(const std::string& value, Random& random) {
  const std::size_t cut = 1 + random.below(value.size() - 1);
  if (random.one_in(2)) return joined({value.substr(0, cut), value.substr(cut)}, " + ", random);
  return joined(pieces(value, random, 4), "+", random);
}
std::string say_array(const std::string& value, Random& random) {
  return "[" + joined(pieces(value, random, 5), ", ", random) + "].join(" + any_quotes("", random) + ")";
}
std::string say_array_with_separator(const std::string& value, Random& random) {
  const std::size_t at = random.below(value.size());
  const std::string separator(1, value[at]);
  std::vector<std::string> parts(1);
  for (const char c : value) {
    if (c == separator[0]) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  std::string list;
  for (const std::string& part : parts) list += (list.empty() ? "" : ", ") + any_quotes(part, random);
  return "[" + list + "].join(" + any_quotes(separator, random) + ")";
}
std::string say_concat(const std::string& value, Random& random) {
  const std::vector<std::string> parts = pieces(value, random, 6);
  return any_quotes(parts.front(), random) + ".concat(" + joined({parts.begin() + 1, parts.end()}, ", ", random) + ")";
}
std::string say_char_codes(const std::string& value, Random& random) {
  const std::string decimal = each_byte(value, ",", [](unsigned char c) { return std::to_string(c); });
  const std::string hex = each_byte(value, ", ", [](unsigned char c) { return fmt::format("0x{:x}", c); });
  const std::string name = random.one_in(3) ? "String.fromCodePoint" : "String.fromCharCode";
  return random.one_in(4) ? name + "(...[" + decimal + "])" : name + "(" + (random.one_in(2) ? decimal : hex) + ")";
}
std::string say_atob(const std::string& value, Random& random) {
  return "atob(" + any_quotes(base64(value), random) + ")";
}
std::string say_buffer(const std::string& value, Random& random) {
  const std::string hex = each_byte(value, "", [](unsigned char c) { return fmt::format("{:02x}", c); });
  const std::string tail = random.one_in(2) ? ".toString()" : ".toString(\"utf8\")";
  if (random.one_in(2)) return "Buffer.from(" + any_quotes(hex, random) + ", \"hex\")" + tail;
  return "Buffer.from(" + any_quotes(base64(value), random) + ", 'base64')" + tail;
}
std::string say_bytes(const std::string& value, Random& random) {
  const std::string decimal = each_byte(value, ",", [](unsigned char c) { return std::to_string(c); });
  if (random.one_in(2)) return "Buffer.from([" + decimal + "]).toString()";
  return "new TextDecoder().decode(new Uint8Array([" + decimal + "]))";
}
std::string say_template(const std::string& value, Random& random) {
  const std::size_t cut = 1 + random.below(value.size() - 1);
  const std::string head = quoted(value.substr(0, cut), '`');
  const std::string tail = quoted(value.substr(cut), '`');
  if (value[cut - 1] == '$') return say_sum(value, random);
  if (random.one_in(2)) return head.substr(0, head.size() - 1) + "${" + any_quotes(value.substr(cut), random) + "}`";
  return "`${" + any_quotes(value.substr(0, cut), random) + "}" + tail.substr(1);
}
std::string say_uri(const std::string& value, Random& random) {
  const std::string hex = each_byte(value, "", [](unsigned char c) { return fmt::format("%{:02x}", c); });
  return (random.one_in(3) ? "unescape(" : "decodeURIComponent(") + any_quotes(hex, random) + ")";
}
std::string say_reversed(const std::string& value, Random& random) {
  return any_quotes(std::string(value.rbegin(), value.rend()), random) + ".split(\"\").reverse().join(\"\")";
}
std::string say_slice(const std::string& value, Random& random) {
  const char* const method = random.pick({"slice", "substring", "substr"});
  return any_quotes("abc" + value, random) + "." + method + "(3)";
}
std::string say_replace(const std::string& value, Random& random) {
  const std::size_t cut = 1 + random.below(value.size() - 1);
  const std::string_view gap = value.find("Q#") == std::string::npos ? "Q#" : "%Z%";
  const char* const method = random.one_in(2) ? "replace" : "replaceAll";
  return any_quotes(value.substr(0, cut) + std::string(gap) + value.substr(cut), random) + "." + method + "(" +
      any_quotes(gap, random) + ", \"\")";
}
std::string say_indexed(const std::string& value, Random& random) {
  return random.one_in(2) ? "[" + any_quotes(value, random) + "][0]" : "[\"x\", " + any_quotes(value, random) + "][1]";
}
std::string say_raw(const std::string& value, Random&) {
  if (value.find_first_of("`$\\") != std::string::npos) return quoted(value, '"');
  return "String.raw`" + value + "`";
}
std::string say_const(const std::string& value, Random& random) {
  return any_quotes(value, random) + (random.one_in(2) ? " as const" : " satisfies string");
}
std::string say_cast(const std::string& value, Random& random) {
  return random.one_in(2) ? any_quotes(value, random) + " as any" : "<any>" + any_quotes(value, random);
}
std::string say_parentheses(const std::string& value, Random& random) {
  return random.one_in(2) ? "((" + any_quotes(value, random) + "))" : "(0, " + any_quotes(value, random) + ")";
}
std::string say_quotes(const std::string& value, Random& random) { return any_quotes(value, random); }
std::string say_condition(const std::string& value, Random& random) {
  return random.one_in(2) ? "true ? " + any_quotes(value, random) + " : \"\""
                          : any_quotes("", random) + " || " + any_quotes(value, random);
}
std::string say_string_call(const std::string& value, Random& random) {
  return random.one_in(2) ? "String(" + any_quotes(value, random) + ")" : any_quotes(value, random) + ".toString()";
}
std::string say_function(const std::string& value, Random& random) {
  return "(() => " + any_quotes(value, random) + ")()";
}

template <Spell spell>
bool say(const Source& source, Random& random, std::vector<Edit>& edits) {
  return say_otherwise(source, random, edits, spell);
}

// const name = "text"; in front, and the name where the text stood.
bool constant(const Source& source, Random& random, std::vector<Edit>& edits) {
  std::vector<std::size_t> sites;
  for (std::size_t i = 0; i < source.size(); ++i) {
    std::string value;
    if (source.is_text_expression(i) && source.plain_value(i, value) && !value.empty()) sites.push_back(i);
  }
  const std::size_t site = pick_site(source, sites, random);
  if (site == kNone) return false;
  std::string value;
  source.plain_value(site, value);
  const std::string name = source.fresh_name(random.below(100));
  const Range range = source.range(site, source.text_end(site));
  const char* const keyword = random.pick({"const", "let", "var"});
  const std::size_t place = random.one_in(2) ? 0 : source.body_begin(site);
  const std::string type = random.one_in(4) ? ": string" : "";
  edits.push_back({place, place,
      fmt::format("{}{} {}{} = {};\n", place == 0 ? "" : " ", keyword, name, type,
          random.one_in(3) ? (value.size() > 1 ? say_sum(value, random) : any_quotes(value, random))
                           : any_quotes(value, random))});
  edits.push_back({range.begin, range.end, name});
  return true;
}

}  // namespace

void add_string_mutations(std::vector<Mutation>& out) {
  out.push_back({"string.hex", hex_escape});
  out.push_back({"string.unicode", unicode_escape});
  out.push_back({"string.unicode_braces", braced_escape});
  out.push_back({"string.octal", octal_escape});
  out.push_back({"string.vain_escape", vain_escape});
  out.push_back({"string.line_continuation", line_continuation});
  out.push_back({"string.quotes", say<say_quotes>});
  out.push_back({"string.sum", say<say_sum>});
  out.push_back({"string.array_join", say<say_array>});
  out.push_back({"string.array_join_separator", say<say_array_with_separator>});
  out.push_back({"string.concat", say<say_concat>});
  out.push_back({"string.char_codes", say<say_char_codes>});
  out.push_back({"string.atob", say<say_atob>});
  out.push_back({"string.buffer", say<say_buffer>});
  out.push_back({"string.bytes", say<say_bytes>});
  out.push_back({"string.template", say<say_template>});
  out.push_back({"string.uri", say<say_uri>});
  out.push_back({"string.reversed", say<say_reversed>});
  out.push_back({"string.slice", say<say_slice>});
  out.push_back({"string.replace", say<say_replace>});
  out.push_back({"string.indexed", say<say_indexed>});
  out.push_back({"string.raw", say<say_raw>});
  out.push_back({"string.as_const", say<say_const>});
  out.push_back({"string.cast", say<say_cast>});
  out.push_back({"string.parentheses", say<say_parentheses>});
  out.push_back({"string.condition", say<say_condition>});
  out.push_back({"string.string_call", say<say_string_call>});
  out.push_back({"string.function", say<say_function>});
  out.push_back({"string.constant", constant});
}

}  // namespace guard::mutator
