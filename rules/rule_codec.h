// Rules as bytes, for the binary to carry: rules_compiler writes them, RuleSet::shipped() reads them. One list of
// fields does both. Numbers have four bytes, texts and lists their size in front.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule.h"

namespace guard {

class RuleWriter {
 public:
  void number(std::uint32_t number) { bytes_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  template <typename Number>
  void choice(const Number& value) {
    number(static_cast<std::uint32_t>(value));
  }
  template <typename List, typename Item>
  void list(const List& list, Item item) {
    number(static_cast<std::uint32_t>(list.size()));
    for (const auto& entry : list) item(entry);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Of bytes that a RuleWriter made, and nobody else: they are part of the program.
class RuleReader {
 public:
  explicit RuleReader(std::string_view bytes) : bytes_(bytes) {}

  std::string_view rest() const { return bytes_; }
  std::uint32_t number() {
    std::uint32_t number = 0;
    std::memcpy(&number, bytes_.data(), sizeof number);
    bytes_.remove_prefix(sizeof number);
    return number;
  }
  std::string_view view() {
    const std::uint32_t size = number();
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
  }
  void text(std::string& out) { out = view(); }
  void text(RuleText& out) { out = RuleText::of_program(view()); }
  template <typename Number>
  void choice(Number& value) {
    value = static_cast<Number>(number());
  }
  template <typename List, typename Item>
  void list(List& list, Item item) {
    list.resize(number());
    for (auto& entry : list) item(entry);
  }

 private:
  std::string_view bytes_;
};

template <typename Coder, typename Texts>
void code_texts(Coder& coder, Texts& texts) {
  coder.list(texts, [&](auto& text) { coder.text(text); });
}

// What a rule and a fact have, without their examples.
template <typename Coder, typename Owner>
void code_common(Coder& coder, Owner& owner) {
  coder.text(owner.id);
  coder.text(owner.title);
  coder.text(owner.file);
  coder.choice(owner.line);
  coder.choice(owner.column);
  coder.list(owner.patterns, [&](auto& pattern) {
    coder.text(pattern.regex);
    coder.list(pattern.views, [&](auto& view) { coder.choice(view); });
    coder.choice(pattern.capture);
    coder.choice(pattern.bytes_max);
  });
}
// `hints` are those of `redact`.
template <typename Coder, typename Rule, typename Hints>
void code_rule(Coder& coder, Rule& rule, Hints& hints) {
  coder.choice(rule.tier);
  code_common(coder, rule);
  coder.choice(rule.severity);
  coder.text(rule.why);
  coder.text(rule.fix);
  coder.text(rule.kind);
  for (auto* list : {&rule.needs, &rule.all_of, &rule.paths}) code_texts(coder, *list);
  code_texts(coder, hints);
}

// What only those want who show or prove rules.
template <typename Coder, typename Owner>
void code_examples(Coder& coder, Owner& owner) {
  for (auto* examples : {&owner.match, &owner.no_match}) {
    coder.list(*examples, [&](auto& example) {
      coder.text(example.text);
      coder.text(example.path);
    });
  }
  if constexpr (requires { owner.references; }) code_texts(coder, owner.references);
}

}  // namespace guard
