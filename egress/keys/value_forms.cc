#include "egress/keys/value_forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "common/text/base64.h"
#include "common/text/characters.h"
#include "common/text/text.h"

namespace guard {
namespace {

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// `escape` has the place of a byte's number.
std::string escaped(std::string_view text, std::string_view plain, std::string_view escape) {
  std::string out;
  for (const char c : text) {
    const bool alone = is_alnum(c) || plain.find(c) != std::string_view::npos;
    const unsigned byte = static_cast<unsigned char>(c);
    out += alone ? std::string(1, c) : fmt::format(fmt::runtime(escape), byte);
  }
  return out;
}

std::string with_backslashes(std::string_view text, std::string_view before) {
  std::string out;
  for (const char c : text) out += before.find(c) == std::string_view::npos ? std::string(1, c) : std::string{'\\', c};
  return out;
}

// Of what follows `shift` other bytes, without the digits that hold bits of those before and behind it.
std::string base64_after(std::size_t shift, std::string_view text) {
  const std::string bytes = std::string(shift, '\0') + std::string(text);
  return base64_encode(bytes).substr(0, bytes.size() * 8 / 6).substr(shift == 0 ? 0 : shift + 1);
}

void add_forms(std::string_view text, std::set<std::string>& forms) {
  forms.emplace(text);
  for (std::size_t shift = 0; shift < 3; ++shift) {
    std::string coded = base64_after(shift, text);
    forms.insert(coded);
    std::ranges::replace(coded, '+', '-');
    std::ranges::replace(coded, '/', '_');
    forms.insert(coded);
  }
  const std::vector<unsigned char> bytes(text.begin(), text.end());
  forms.insert(fmt::format("{:02x}", fmt::join(bytes, "")));
  forms.insert(fmt::format("{:02X}", fmt::join(bytes, "")));
  // As RFC 3986, encodeURIComponent and the careful have it.
  for (const std::string_view plain : {"-._~", "-_.!~*'()", ""}) {
    forms.insert(escaped(text, plain, "%{:02x}"));
    forms.insert(escaped(text, plain, "%{:02X}"));
  }
  // JSON must escape quotes and backslashes alone, and may do so with / and anything else: + & < > ' are usual.
  constexpr std::string_view kUsual = "-._~!#$%()*,/:;=?@[]^`{|} ";
  forms.insert(with_backslashes(text, "\"\\"));
  forms.insert(with_backslashes(text, "\"\\/"));
  for (const std::string_view plain : {kUsual, std::string_view()}) {
    forms.insert(escaped(text, plain, "\\u{:04x}"));
    forms.insert(escaped(text, plain, "\\u{:04X}"));
    for (const std::string_view escape : {"&#{};", "&#x{:x};", "&#x{:X};"}) forms.insert(escaped(text, plain, escape));
  }
  forms.insert(lower_case(text));
  std::string capitals(text);
  std::ranges::transform(text, capitals.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  forms.insert(capitals);
}

bool is_short(const std::string& text) { return text.size() < kHiddenBytesMin; }

void add_runs(std::string_view text, std::set<std::string>& texts) {
  for (auto begin = text.begin(); begin != text.end();) {
    const auto end = std::find_if_not(begin, text.end(), is_alnum);
    const std::string run(begin, end);
    const bool hex = run.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    if (run.size() >= (hex ? kHiddenHexRunMin : kHiddenRunMin)) texts.insert(run);
    begin = end == text.end() ? end : end + 1;
  }
}

}  // namespace

std::vector<std::string> words_of_key(std::string_view prefix, std::string_view value) {
  const std::string header_value = std::string(prefix) + std::string(value);
  const auto pieces = pieces_of(header_value, ' ');
  std::set<std::string> words(pieces.begin(), pieces.end());
  if (pieces.size() == 2 && lower_case(pieces[0]) == "basic") {
    const std::string user = base64_decode(pieces[1]).value_or("");
    words.insert(user);
    words.insert(user.substr(std::min(user.size(), user.find(':') + 1)));
  }
  std::erase_if(words, is_short);
  words.emplace(value);
  return {words.begin(), words.end()};
}

std::vector<std::string> forms_of_key(std::string_view prefix, std::string_view value) {
  const auto words = words_of_key(prefix, value);
  std::set<std::string> texts(words.begin(), words.end());
  for (const std::string& word : words) add_runs(word, texts);
  std::set<std::string> forms;
  for (const std::string& text : texts) add_forms(text, forms);
  std::erase_if(forms, is_short);
  return {forms.begin(), forms.end()};
}

}  // namespace guard
