#include "validator/source_view.h"

#include <algorithm>
#include <array>

#include "validator/constant_folder.h"
#include "validator/js_lexer.h"
#include "validator/name_table.h"
#include "validator/view_builder.h"

namespace guard {

struct SourceViews::State {
  std::string_view bytes;
  LexedText lexed;
  NameTable names;
  Arena arena;
  ValueLists lists;
  MappedText code;
  MappedText strings;
  std::vector<TextSpan> escaped_names;
  bool undecidable = false;
};

SourceViews::SourceViews() : state_(std::make_unique<State>()) {}
SourceViews::~SourceViews() = default;
SourceViews::SourceViews(SourceViews&&) noexcept = default;
SourceViews& SourceViews::operator=(SourceViews&&) noexcept = default;

void SourceViews::build(std::string_view bytes, std::string_view path) {
  State& s = *state_;
  s.bytes = bytes;
  s.names.clear();
  s.arena.clear();
  s.lists.clear();
  lex(bytes, markup_of(path), s.lexed);

  bool over_budget = false;
  for (int reading = 0; reading < 2; ++reading) {
    s.code.clear();
    s.strings.clear();
    s.escaped_names.clear();
    if (reading > 0) s.names.freeze();
    ViewBuilder builder(bytes, s.names, s.arena, s.lists, s.code, s.strings, s.escaped_names);
    builder.read(s.lexed.tokens);
    if (reading == 0 && builder.wants_second_reading() && !builder.over_budget()) continue;
    builder.read_other_meanings(s.lexed.tokens);
    for (const TokenRange& range : s.lexed.alternatives) {
      if (s.lexed.undecidable) break;  // the file is refused as it is
      builder.read(std::span(s.lexed.alternative_tokens).subspan(range.first, range.count));
    }
    if (!is_script_path(path)) builder.add_entry({}, bytes, 0, static_cast<std::uint32_t>(bytes.size()));
    over_budget = builder.over_budget();
    break;
  }
  s.undecidable = s.lexed.undecidable || over_budget;
}

std::string_view SourceViews::view(View view) const noexcept {
  switch (view) {
    case View::code:
      return state_->code.text();
    case View::strings:
      return state_->strings.text();
    case View::raw:
      break;
  }
  return state_->bytes;
}

TextSpan SourceViews::original(View view, std::size_t begin, std::size_t end) const noexcept {
  const std::size_t size = state_->bytes.size();
  TextSpan span{begin, end};
  if (view == View::code) span = state_->code.original(begin, end);
  if (view == View::strings) span = state_->strings.original(begin, end);
  span.begin = std::min(span.begin, size);
  span.end = std::clamp(span.end, span.begin, size);
  return span;
}

bool SourceViews::undecidable() const noexcept {
  return state_->undecidable;
}
const std::vector<TextSpan>& SourceViews::escaped_names() const noexcept {
  return state_->escaped_names;
}
const std::vector<std::uint32_t>& SourceViews::byte_order_marks() const noexcept {
  return state_->lexed.byte_order_marks;
}

std::uint64_t SourceViews::steps() const noexcept {
  return state_->lexed.steps + state_->code.size() + state_->strings.size() + state_->arena.used_bytes();
}

bool is_script_path(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return true;
  static constexpr std::array<std::string_view, 8> kEndings = {".ts",  ".tsx", ".js",  ".jsx",
                                                               ".mjs", ".cjs", ".mts", ".cts"};
  return std::find(kEndings.begin(), kEndings.end(), name.substr(dot)) != kEndings.end();
}

}  // namespace guard
