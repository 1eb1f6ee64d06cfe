// Takes the teeth out of untrusted output before it reaches a terminal or a CI log.
//
// What could act becomes visible instead of disappearing: a filter that removed bytes could join two halves of a secret
// that the redactor saw apart. So nothing is ever removed, and what is put in is backslash notation:
//   kept         printable text, tab, LF, CR LF, colours (SGR without "conceal")
//   ESC ...      `\x1b...`: titles, links, clipboard, cursor movement, device queries, anything that is no colour
//   controls     C0, DEL and C1 as `\xHH` or `\u00HH`; bytes that are no UTF-8 as `\xHH`, so the output is UTF-8
//   CR           alone becomes LF: written over, a line could show PASS where FAIL was; and readers of CI logs take CR
//                for a line end, so what follows must be judged as the beginning of a line
//   bidi, zero   `\u202e`: direction controls and characters of no width. Joiners and variation selectors stay behind
//                non-ASCII characters, where they form emoji
//   commands     `::name` at the beginning of a line becomes `\::name`; `##vso[`, `##[`, `##teamcity[` become `#\#...`
//
// Order: child -> Redactor -> TerminalSafety -> OutputCap -> out. Behind the redactor, because secrets are recognised
// in the program's own bytes, and markers pass through here unchanged. Before the cap, because escaping makes text
// longer and the cap promises a size; the cap then cuts between whole units. What is saved for machines may skip this
// filter.
//
// The output does not depend on how the input was cut; at most kCarryBytesMax bytes are held back. Idempotent. Not
// thread-safe: one per stream.
#pragma once

#include <string>
#include <string_view>

#include "common/byte_sink.h"

namespace guard {

class TerminalSafety final : public ByteSink {
 public:
  // `out` must outlive this.
  explicit TerminalSafety(ByteSink& out) : out_(out) {}

  Result<void> push(std::span<const char> bytes) override;
  Result<void> finish() override;

  static constexpr std::size_t kCarryBytesMax = 64;

 private:
  // Writes the unit at the beginning of `text` to `safe_` and answers its size; 0 where more has to be seen.
  std::size_t take(std::string_view text, bool ended);
  std::size_t take_control(std::string_view text, bool ended);
  std::size_t take_character(std::string_view text, bool ended);
  std::size_t take_plain(std::string_view text, bool ended);
  Result<void> run(bool ended);

  ByteSink& out_;
  std::string carry_;
  std::string safe_;
  bool line_start_ = true;   // nothing but blanks, colours and non-ASCII on this line so far: a command may begin
  bool after_ascii_ = true;  // the last character was ASCII, or there was none
};

}  // namespace guard
