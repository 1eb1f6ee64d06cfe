#include "redact/kinds/spellings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "common/text/characters.h"

namespace guard {
namespace {

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The character at `at`, which is moved behind it. Bytes that are no UTF-8 stand for themselves.
std::uint32_t take_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(at);
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
  std::uint32_t code = size == 1 ? lead : lead & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (at + i >= text.size() || (byte(at + i) & 0xc0) != 0x80) {
      ++at;
      return lead;
    }
    code = code << 6 | (byte(at + i) & 0x3f);
  }
  at += size;
  return code;
}

std::string percent(std::string_view value, std::string_view kept, bool upper, bool plus) {
  std::string out;
  for (const char c : value) {
    if (is_alnum(c) || kept.find(c) != std::string_view::npos) {
      out += c;
    } else if (c == ' ' && plus) {
      out += '+';
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += upper ? fmt::format("%{:02X}", byte) : fmt::format("%{:02x}", byte);
    }
  }
  return out;
}

enum class Wide : std::uint8_t { as_is, lower, upper, short_hex };

// In quotes of JSON or JavaScript. `quote`: the one that is escaped.
std::string escaped(std::string_view value, char quote, bool slash, Wide wide) {
  std::string out;
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t from = at;
    const std::uint32_t code = take_character(value, at);
    constexpr std::string_view controls = "\n\r\t\b\f";
    constexpr std::string_view letters = "nrtbf";
    const std::size_t control = code < 0x80 ? controls.find(static_cast<char>(code)) : std::string_view::npos;
    if (control != std::string_view::npos) {
      out += '\\';
      out += letters[control];
    } else if (code == '\\' || code == static_cast<std::uint32_t>(quote) || (code == '/' && slash)) {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code < ' ' || (code >= 0x7f && wide != Wide::as_is)) {
      if (code < 0x100 && wide == Wide::short_hex) {
        out += fmt::format("\\x{:02x}", code);
      } else {
        const bool upper = wide == Wide::upper;
        const auto unit = [&](std::uint32_t value16) {
          out += upper ? fmt::format("\\u{:04X}", value16) : fmt::format("\\u{:04x}", value16);
        };
        if (code < 0x10000) {
          unit(code);
        } else {
          unit(0xd800 + ((code - 0x10000) >> 10));
          unit(0xdc00 + ((code - 0x10000) & 0x3ff));
        }
      }
    } else {
      out += value.substr(from, at - from);
    }
  }
  return out;
}

std::string with_all(std::string_view text, std::initializer_list<std::pair<char, std::string_view>> replacements) {
  std::string out;
  for (const char c : text) {
    const auto* found =
        std::find_if(replacements.begin(), replacements.end(), [c](const auto& pair) { return pair.first == c; });
    if (found == replacements.end()) {
      out += c;
    } else {
      out += found->second;
    }
  }
  return out;
}

// The texts of a JSON document, as written and as meant. Read by hand: half a document still has texts in it, and all
// that is wanted is what stands between quotes. Names of members are left out.
void add_json_texts(std::string_view value, std::vector<std::string>& out) {
  const std::size_t first = value.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (value[first] != '{' && value[first] != '[')) return;
  for (std::size_t at = first; at < value.size(); ++at) {
    if (value[at] != '"') continue;
    std::string meant;
    const std::size_t begin = ++at;
    for (; at < value.size() && value[at] != '"'; ++at) {
      if (value[at] != '\\' || at + 1 == value.size()) {
        meant += value[at];
        continue;
      }
      ++at;
      const std::size_t control = std::string_view("nrtbf").find(value[at]);
      meant += control == std::string_view::npos ? value[at] : "\n\r\t\b\f"[control];
    }
    if (at >= value.size()) return;
    const std::size_t behind = value.find_first_not_of(" \t\r\n", at + 1);
    if (behind != std::string_view::npos && value[behind] == ':') continue;
    out.emplace_back(value.substr(begin, at - begin));
    out.push_back(std::move(meant));
  }
}

void add_written(std::string_view value, std::vector<std::string>& out) {
  constexpr std::string_view kComponent = "-_.~";    // RFC 3986
  constexpr std::string_view kScript = "-_.!~*'()";  // encodeURIComponent
  constexpr std::string_view kForm = "-_.*";         // forms
  constexpr std::string_view kNone;                  // what is on the safe side
  for (const bool upper : {true, false}) {
    for (const std::string_view kept : {kComponent, kScript, kForm, kNone}) {
      for (const bool plus : {true, false}) out.push_back(percent(value, kept, upper, plus));
    }
  }
  for (const char quote : {'"', '\'', '`'}) {
    for (const bool slash : {true, false}) {
      for (const Wide wide : {Wide::as_is, Wide::lower, Wide::upper, Wide::short_hex})
        out.push_back(escaped(value, quote, slash, wide));
    }
  }
  const bool is_host =
      std::all_of(value.begin(), value.end(), [](char c) { return is_alnum(c) || c == '-' || c == '.'; });
  if (is_host) out.push_back(lower_case(value));  // as hosts are written
  const std::string text(value);
  out.push_back(with_all(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}}));
  for (const std::string_view apostrophe : {"&#39;", "&#x27;", "&#039;", "&apos;", "'"}) {
    out.push_back(with_all(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', apostrophe}}));
    out.push_back(with_all(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&#34;"}, {'\'', apostrophe}}));
  }
  out.push_back(with_all(text, {{'\'', "'\\''"}}));
  out.push_back(with_all(text, {{'\'', "'\"'\"'"}}));
  out.push_back(with_all(text, {{'"', "\\\""}, {'\\', "\\\\"}, {'$', "\\$"}, {'`', "\\`"}}));
}

}  // namespace

std::vector<std::string> spellings(std::string_view value) {
  std::vector<std::string> texts;
  add_json_texts(value, texts);
  const std::size_t parts = texts.size();
  for (std::size_t i = 0; i < parts; ++i) add_written(std::string(texts[i]), texts);
  add_written(value, texts);
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  const auto useless = [&](const std::string& text) {
    return text == value || text.find_first_of("\r\n") != std::string::npos;
  };
  texts.erase(std::remove_if(texts.begin(), texts.end(), useless), texts.end());
  return texts;
}

}  // namespace guard
