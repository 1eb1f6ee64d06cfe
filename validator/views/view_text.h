// Small questions about pieces of the code view, shared by the parts of the view builder.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "validator/values/constant_folder.h"
#include "validator/values/known_names.h"

namespace guard {

inline constexpr std::size_t kOperandCodeMax = 256;    // longer operands keep their parentheses
inline constexpr std::string_view kKeyCallee = "key";  // of texts that are names of properties

inline bool is_char(std::string_view text, char c) noexcept { return text.size() == 1 && text[0] == c; }

// Words of the code view: names, private ones too, and numbers.
inline bool is_code_word_byte(char c) noexcept { return is_word_byte(c) || c == '#'; }

// What may be shown of a string in the code view: a module name and nothing that could be taken for code.
inline bool is_plain_specifier(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 200 && std::all_of(text.begin(), text.end(), [](char c) {
    return is_code_word_byte(c) || c == '/' || c == '.' || c == '-' || c == '@' || c == ':' || c == '+' ||
        c == kWildcard;
  });
}

inline bool is_known_global(std::string_view name) noexcept {
  static constexpr std::array<std::string_view, 17> kGlobals = {"process", "Bun", "console", "eval", "Function",
      "require", "fetch", "globalThis", "global", "self", "setTimeout", "window", "atob", "Reflect", "Worker", "Buffer",
      "setInterval"};
  return std::find(kGlobals.begin(), kGlobals.end(), name) != kGlobals.end();
}

// globalThis.eval is eval.
inline std::string without_global_object(std::string path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos || !is_global_object(std::string_view(path).substr(0, dot))) return path;
  const std::string_view rest = std::string_view(path).substr(dot + 1);
  return is_known_global(rest.substr(0, rest.find('.'))) ? std::string(rest) : path;
}

}  // namespace guard
