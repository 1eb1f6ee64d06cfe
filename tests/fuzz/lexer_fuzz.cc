// Foreign bytes as source text: every view is built, every span leads into the file, and the tokens are in order.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "validator/lex/js_lexer.h"
#include "validator/views/source_view.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static guard::LexedText lexed;
  static guard::SourceViews views;
  for (const char* path : {"a.ts", "a.tsx", "a.sh"}) {
    guard::lex(text, guard::markup_of(path), lexed);
    std::uint32_t last = 0;
    for (const guard::Token& token : lexed.tokens) {
      if (token.begin < last || token.end <= token.begin || token.end > size) std::abort();
      last = token.end;
    }
    for (const guard::Token& token : lexed.alternative_tokens) {
      if (token.end <= token.begin || token.end > size) std::abort();
    }
    views.build(text, path);
    for (const guard::View view : {guard::View::raw, guard::View::code, guard::View::strings}) {
      const std::size_t length = views.view(view).size();
      for (std::size_t at = 0; at < length; at += 1 + length / 64) {
        const guard::TextSpan span = views.original(view, at, at + 5);
        if (span.begin > span.end || span.end > size) std::abort();
      }
    }
  }
  return 0;
}
