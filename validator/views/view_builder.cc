#include "validator/views/view_builder.h"

#include <algorithm>

namespace guard {
namespace {

constexpr std::uint32_t kLookAheadMax = 4'000;  // tokens of an import clause or a pattern

}  // namespace

ViewBuilder::ViewBuilder(std::string_view source, NameTable& names, Arena& arena, ValueLists& lists, ViewTexts& out,
    bool typed, std::optional<TextSpan> origin)
    : source_(source),
      names_(names),
      arena_(arena),
      lists_(lists),
      out_(out),
      code_(out.code),
      strings_(out.strings),
      typed_(typed),
      origin_(origin) {}

ViewBuilder::~ViewBuilder() = default;

void ViewBuilder::read(std::span<const Token> tokens) {
  tokens_ = tokens;
  groups_.clear();
  now_ = &expressions_[0];
  now_->reset(';');
  args_.clear();
  skip_until_ = 0;
  masked_load_ = false;
  handed_roots_.clear();
  shadows_.clear();
  closed_first_ = closed_end_ = 0;
  write(code_, "\n;", 0, 0);
  for (std::uint32_t i = 0; i < tokens_.size(); ++i) {
    if (i < skip_until_) continue;
    if (spent_too_much()) {
      over_budget_ = true;
      break;
    }
    token(i);
  }
  while (!groups_.empty()) {
    finish(true);
    now_ = groups_.back().outer;
    groups_.pop_back();
  }
  finish(true);
  write(code_, "\n;", 0, 0);
}

// Constants that are used again and again could make the views far larger than the text.
bool ViewBuilder::spent_too_much() const noexcept {
  constexpr std::uint64_t kFactor = 16;
  constexpr std::uint64_t kSlack = 1ULL << 20;
  return out_.size() + arena_.used_bytes() + list_bytes_ > kFactor * read_bytes_ + kSlack;
}

std::string_view ViewBuilder::source_of(const Token& token) const noexcept {
  return source_.substr(token.begin, token.end - token.begin);
}

void ViewBuilder::token(std::uint32_t index) {
  const Token& at = tokens_[index];
  index_ = index;
  switch (at.kind) {
    case TokenKind::word: word(index); break;
    case TokenKind::number: {
      if (now_->open && !now_->in_type) finish(true);
      const std::size_t begin = put(source_of(at), at);
      if (!now_->in_type) {
        Value value = number_value(source_of(at));
        if (now_->negative) value.number = -value.number;
        value.begin = at.begin;
        value.end = at.end;
        begin_operand(at, value, begin);
      }
      break;
    }
    case TokenKind::string: string_literal(index); break;
    case TokenKind::regex: {
      if (now_->open) finish(true);
      begin_operand(at, Value{}, put("/./", at));
      break;
    }
    case TokenKind::template_open:
    case TokenKind::template_text:
    case TokenKind::template_close:
    case TokenKind::substitution_open:
    case TokenKind::substitution_close: template_piece(index); break;
    case TokenKind::punctuator: punctuator(index); break;
    case TokenKind::markup_text: break;
  }
}

std::uint32_t ViewBuilder::matching_bracket(std::uint32_t index) const noexcept {
  std::uint32_t depth = 0;
  const std::uint32_t limit = std::min(static_cast<std::uint32_t>(tokens_.size()), index + kLookAheadMax);
  for (std::uint32_t i = index; i < limit; ++i) {
    if (tokens_[i].kind != TokenKind::punctuator) continue;
    const std::string_view text = source_of(tokens_[i]);
    if (text == "{" || text == "[" || text == "(") ++depth;
    if ((text == "}" || text == "]" || text == ")") && --depth == 0) return i;
  }
  return 0;
}

}  // namespace guard
