#include "validator/judge/code_text.h"

#include <array>

#include "validator/values/known_names.h"

namespace guard {

CodeText::CodeText(std::string_view code) : code_(code) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::size_t outer = open.empty() ? kNowhere : open.back();
    if (is_opening(code[i])) {
      open.push_back(brackets_.size());
      Bracket bracket{
          i, kNowhere, outer, outer == kNowhere ? kNowhere : brackets_[outer].brace, Brace::other, kNowhere};
      if (code[i] == '{') {
        bracket.brace = open.back();
        bracket.parameters = find_parameters_end(i);
        bracket.kind = find_kind(i, bracket.parameters);
      }
      brackets_.push_back(bracket);
    } else if (is_closing(code[i])) {
      if (outer != kNowhere) {
        open.pop_back();
        brackets_[outer].partner = brackets_.size();
      }
      brackets_.push_back({i, outer, open.empty() ? kNowhere : open.back(), kNowhere, Brace::other, kNowhere});
    } else if (code[i] == '`') {
      backticks_.push_back(i);
    } else if (is_word_byte(code[i])) {
      names_.push_back(name_at(i));
      i += names_.back().size() - 1;
    }
  }
}

std::string_view CodeText::name_at(std::size_t at) const noexcept {
  std::size_t end = at;
  while (end < code_.size() && is_word_byte(code_[end])) ++end;
  return behind(at).substr(0, end - at);
}

std::string_view CodeText::name_before(std::size_t at) const noexcept {
  std::size_t begin = at;
  while (begin > 0 && is_word_byte(code_[begin - 1])) --begin;
  return code_.substr(begin, at - begin);
}

std::string_view CodeText::chain_before(std::size_t at) const noexcept {
  std::size_t begin = at;
  while (begin > 0 && (is_word_byte(code_[begin - 1]) || code_[begin - 1] == '.')) --begin;
  return code_.substr(begin, at - begin);
}

std::string_view CodeText::keyword_before(std::size_t at) const noexcept {
  return at > 0 && code_[at - 1] == ' ' ? name_before(at - 1) : std::string_view();
}

const std::vector<std::size_t>& CodeText::places_of(std::string_view name) const {
  static const std::vector<std::size_t> kNone;
  if (places_.empty()) {
    for (const std::string_view known : names_) places_[known].push_back(place_of(known));
  }
  const auto known = places_.find(name);
  return known == places_.end() ? kNone : known->second;
}

std::size_t CodeText::partner(std::size_t at) const { return place(from(at)->partner); }

std::size_t CodeText::open_at(std::size_t at) const {
  const auto next = from(at);
  if (next == brackets_.begin()) return kNowhere;
  const auto last = std::prev(next);
  return is_opening(code_[last->at]) ? static_cast<std::size_t>(last - brackets_.begin()) : last->outer;
}

std::size_t CodeText::enclosing(std::size_t at) const { return place(open_at(at)); }

std::size_t CodeText::enclosing_brace(std::size_t at) const {
  const std::size_t open = open_at(at);
  return open == kNowhere ? kNowhere : place(brackets_[open].brace);
}

std::size_t CodeText::backtick_before(std::size_t at) const {
  const auto next = std::lower_bound(backticks_.begin(), backticks_.end(), at);
  return next == backticks_.begin() ? kNowhere : *std::prev(next);
}

CodeText::Brace CodeText::find_kind(std::size_t brace, std::size_t parameters) const {
  const std::string_view ahead = ahead_of(brace);
  if (ahead.empty() || ahead.ends_with("=>") || is_branch(name_before(brace))) return Brace::block;
  std::size_t statement = ahead.size();
  while (statement > 0 && !is_byte_of(";{}\n", ahead[statement - 1])) --statement;
  const std::size_t word = ahead.find("class", statement);
  if (word != kNowhere && ahead.find('=', statement) > word) return Brace::class_body;
  return is_byte_of(");{}\n", ahead.back()) || parameters != kNowhere ? Brace::block : Brace::other;
}

std::size_t CodeText::find_parameters_end(std::size_t brace) const {
  std::size_t at = brace;
  while (at > 0 && (is_word_byte(code_[at - 1]) || is_byte_of(".<>[]|,", code_[at - 1]))) --at;
  if (at != brace && (at == 0 || code_[--at] != ':')) return kNowhere;
  return at > 0 && code_[at - 1] == ')' ? at - 1 : kNowhere;
}

bool is_branch(std::string_view word) noexcept {
  static constexpr std::array<std::string_view, 11> kBranches = {
      "if", "for", "while", "switch", "catch", "else", "try", "finally", "do", "with", "static"};
  return is_one_of(kBranches, word);
}

bool is_asked(std::string_view rest) noexcept {
  for (const std::string_view sign : {"===", "!==", "==", "!="}) {
    if (rest.starts_with(sign)) return true;
  }
  if (rest.starts_with("&&")) return !rest.starts_with("&&=");
  return rest.size() > 1 && rest[0] == '?' && rest[1] != '?' && rest[1] != '.';
}

}  // namespace guard
