// Which environment variables may be read beside output: names that hold no secret.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/matching/matcher.h"
#include "rules/rule_set.h"
#include "validator/judge/code_text.h"
#include "validator/judge/kept_values.h"
#include "validator/judge/kept_variables.h"
#include "validator/judge/shown_variables.h"
#include "validator/validator.h"
#include "validator/views/source_view.h"

namespace guard {

// `read` is what a hit of fact.reads_variable spans: a name, or the list of names in { A, B: c = 1 }. True if every
// name in it is harmless; false for anything that can't be told.
bool reads_only_harmless(std::string_view read, std::span<const std::string> harmless) noexcept;

// The variables that a file gives a value of its own: process.env.A = "b", delete process.env.A, vi.stubEnv("A", "b").
// Not those that it only puts back.
class OwnVariables {
 public:
  // Of the views of one file; names stay views of them.
  OwnVariables(const CodeText& code, std::string_view strings);

  // Is `name` set before this offset of the code view?
  bool set_before(std::string_view name, std::size_t at) const noexcept;

 private:
  std::unordered_map<std::string_view, std::size_t> first_;
};

// Which hits of facts say nothing about a secret: harmless variables that are read or written, variables of the file's
// own that are written, and reads whose value goes nowhere.
class HarmlessHits {
 public:
  HarmlessHits(const RuleSet& rules, const ValidatorOptions& options);

  // Another file; its views must stay as they are until the next one.
  void begin(const SourceViews& views);
  bool contains(View view, const Match& match);

  // The fact that a file keeps values says nothing where the file itself reads a variable, unless it keeps just that:
  // what it reads is what those that load it may print, and they are judged with it.
  bool is_own_keeping(std::uint32_t fact) const { return fact == keeps_values_ && keeps_ != Keeping::variable; }
  // A read that might be shown, and is not, is no writing at all.
  bool is_mere_read(View view, const Match& match) const {
    return match.index == output_sink_ && view == View::code && views_->view(view)[match.begin] == '.';
  }
  bool is_read(std::uint32_t fact) const { return fact == reads_variable_; }

 private:
  // What the readers of the code view have learnt of the file at hand, each once it is asked.
  struct File {
    explicit File(std::string_view code) : text(code), kept(text) {}
    CodeText text;
    KeptVariables kept;
    std::optional<OwnVariables> own;
    std::optional<ShownVariables> shown;
  };
  File& file();
  const OwnVariables& own();
  bool shows_what_it_reads(const Match& match);

  std::vector<std::string> names_;
  std::uint32_t reads_variable_ = UINT32_MAX;
  std::uint32_t output_sink_ = UINT32_MAX;
  std::uint32_t keeps_values_ = UINT32_MAX;
  const SourceViews* views_ = nullptr;
  std::optional<File> file_;
  std::optional<Keeping> keeps_;
};

}  // namespace guard
