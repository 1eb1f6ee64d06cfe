#include "validator/views/source_view.h"

#include <algorithm>
#include <array>

#include "validator/lex/js_lexer.h"
#include "validator/values/constant_folder.h"
#include "validator/values/name_table.h"
#include "validator/views/token_reader.h"

namespace guard {

struct SourceViews::State {
  std::string_view bytes;
  LexedText lexed;
  NameTable names;
  Arena arena;
  ValueLists lists;
  ViewTexts texts;
  std::uint64_t steps = 0;
  bool undecidable = false;
  std::uint64_t read_bytes = 0;
};

SourceViews::SourceViews() : state_(std::make_unique<State>()) {}
SourceViews::~SourceViews() = default;
SourceViews::SourceViews(SourceViews&&) noexcept = default;
SourceViews& SourceViews::operator=(SourceViews&&) noexcept = default;

namespace {

// Type arguments are read only where they can be: in JavaScript a < b > (c) compares.
bool is_typed_path(std::string_view path) noexcept {
  for (const std::string_view ending : {".ts", ".tsx", ".mts", ".cts"}) {
    if (path.size() > ending.size() && path.substr(path.size() - ending.size()) == ending) return true;
  }
  return false;
}

}  // namespace

// Reads one text, the file or what it runs as code, and appends to the views. False if it grew out of proportion.
bool SourceViews::read(std::string_view text, std::string_view path, const TextSpan* origin) {
  State& s = *state_;
  s.names.clear();
  s.read_bytes += text.size();
  lex(text, markup_of(path), s.lexed);
  s.steps += s.lexed.steps;
  s.undecidable = s.undecidable || s.lexed.undecidable;
  const ViewTexts::Mark begin = s.texts.mark();
  const std::optional<TextSpan> at = origin != nullptr ? std::optional<TextSpan>(*origin) : std::nullopt;
  for (int reading = 0; reading < 2; ++reading) {
    s.texts.cut(begin);
    TokenReader reader(text, s.names, s.arena, s.lists, s.texts, origin == nullptr && is_typed_path(path), at);
    reader.set_read_bytes(s.read_bytes);
    reader.read(s.lexed.tokens);
    if (reading == 0 && s.names.learned_late() && !reader.over_budget()) {
      s.steps += reader.steps();
      continue;
    }
    for (const TokenRange& range : s.lexed.alternatives) {
      if (s.lexed.undecidable) break;  // the file is refused as it is
      reader.read(std::span(s.lexed.alternative_tokens).subspan(range.first, range.count));
    }
    if (origin == nullptr && !is_script_path(path)) {
      reader.writer().add_string({}, text, 0, static_cast<std::uint32_t>(text.size()));
    }
    s.steps += reader.steps();
    return !reader.over_budget();
  }
  return true;
}

void SourceViews::build(std::string_view bytes, std::string_view path) {
  constexpr std::size_t kNestedMax = 512;
  State& s = *state_;
  s.bytes = bytes;
  s.arena.clear();
  s.lists.clear();
  s.texts.clear();
  s.steps = 0;
  s.undecidable = false;
  s.read_bytes = 0;
  for (const std::string_view word : {"eval", "Function", "constructor"}) {
    s.texts.keeps_texts = s.texts.keeps_texts || bytes.find(word) != std::string_view::npos;
  }
  if (bytes.find("\\u") != std::string_view::npos || bytes.find("\\x") != std::string_view::npos)
    s.texts.keeps_texts = true;
  if (!read(bytes, path, nullptr)) s.undecidable = true;

  // Where eval or its kin is handed around, any text may be what it runs.
  if (s.texts.hands_runner) {
    if (s.texts.texts.size() > kTextsMax) s.undecidable = true;
    s.texts.nested.insert(s.texts.nested.end(), s.texts.texts.begin(), s.texts.texts.end());
  }

  // Code in strings, and code in strings in that code. All of it together may be a few times as long as the file.
  std::uint64_t budget = 4 * bytes.size() + 65'536;
  const std::vector<std::uint32_t> marks = s.lexed.byte_order_marks;
  for (std::size_t i = 0; i < s.texts.nested.size(); ++i) {
    const NestedText nested = s.texts.nested[i];
    if (i >= kNestedMax || nested.text.size() > budget) {
      s.undecidable = true;
      break;
    }
    budget -= nested.text.size();
    if (!read(nested.text, "nested.tsx", &nested.span)) s.undecidable = true;
  }
  s.lexed.byte_order_marks = marks;
}

std::string_view SourceViews::view(View view) const noexcept {
  switch (view) {
    case View::code: return state_->texts.code.text();
    case View::strings: return state_->texts.strings.text();
    case View::commands: return state_->texts.commands.text();
    case View::uses: return state_->texts.uses.text();
    case View::raw: break;
  }
  return state_->bytes;
}

TextSpan SourceViews::original(View view, std::size_t begin, std::size_t end) const noexcept {
  const std::size_t size = state_->bytes.size();
  TextSpan span{begin, end};
  if (view == View::code) span = state_->texts.code.original(begin, end);
  if (view == View::strings) span = state_->texts.strings.original(begin, end);
  if (view == View::commands) span = state_->texts.commands.original(begin, end);
  if (view == View::uses) span = state_->texts.uses.original(begin, end);
  span.begin = std::min(span.begin, size);
  span.end = std::clamp(span.end, span.begin, size);
  return span;
}

bool SourceViews::undecidable() const noexcept { return state_->undecidable; }
const std::vector<TextSpan>& SourceViews::escaped_names() const noexcept { return state_->texts.escaped_names; }
const std::vector<std::uint32_t>& SourceViews::byte_order_marks() const noexcept {
  return state_->lexed.byte_order_marks;
}

std::uint64_t SourceViews::steps() const noexcept {
  return state_->steps + state_->texts.size() + state_->arena.used_bytes();
}

bool is_script_path(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return true;
  static constexpr std::array<std::string_view, 8> kEndings = {
      ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"};
  return std::find(kEndings.begin(), kEndings.end(), name.substr(dot)) != kEndings.end();
}

}  // namespace guard
