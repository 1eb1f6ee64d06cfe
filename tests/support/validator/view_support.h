// Shorthands for tests of single views.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "validator/views/source_view.h"

namespace guard {

inline std::string code_view(std::string_view text, std::string_view path = "a.ts") {
  SourceViews views;
  views.build(text, path);
  return std::string(views.view(View::code));
}

// The entries of a view of entries, parts divided by `|`, unknown text as `?`.
inline std::vector<std::string> view_entries(View view, std::string_view text, std::string_view path = "a.ts") {
  SourceViews views;
  views.build(text, path);
  std::vector<std::string> all;
  std::string now;
  for (const char c : views.view(view)) {
    if (c == '\x1e') {
      now.clear();
    } else if (c == '\x1d') {
      now += '|';
    } else if (c == '\x1f') {
      all.push_back(now);
    } else {
      now += c == '\x1a' ? '?' : c;
    }
  }
  return all;
}

// Each text hands ".env" to use().
inline void expect_handed(const std::vector<const char*>& texts) {
  for (const char* text : texts)
    EXPECT_THAT(view_entries(View::strings, text), ::testing::Contains("use|.env")) << text;
}

}  // namespace guard
