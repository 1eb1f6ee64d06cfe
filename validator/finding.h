// What the validator reports. Plain values, sortable by path, then offset, then rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rules/rule.h"
#include "validator/views/reading.h"

namespace guard {

// The tiers of rules, and the kinds of finding that no rule of a tier makes.
enum class FindingTier : std::uint8_t { always, docker, host, banned, side_file, encoding, policy };
std::string_view to_string(FindingTier tier) noexcept;  // the wire names of the check document

// Where a finding stands for readers that count characters (code points) and not bytes; the end lies behind the last
// character. All 0: the file as a whole.
struct Region {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t end_line = 0;
  std::uint32_t end_column = 0;
};

struct Finding {
  std::string rule;  // id
  FindingTier tier = FindingTier::always;
  Severity severity = Severity::block;
  std::string path;          // as given by the caller, joined with '/'
  std::uint32_t line = 0;    // 1-based; 0: the file as a whole
  std::uint32_t column = 0;  // 1-based, bytes
  std::size_t begin = 0;     // span in the original bytes
  std::size_t end = 0;
  std::string excerpt;            // the line, made printable; secrets in it are NOT yet masked: pipeline does that
  std::uint32_t caret = 0;        // byte offset of the span in `excerpt`
  std::uint32_t caret_width = 0;  // bytes of `excerpt` under the caret
  std::string message;            // the rule's title and, where known, what matched
  std::string fix;
  bool confirmed = true;  // both engines agreed on the span
  Reading reading;        // what it was read as, where the source spells it otherwise; unmasked: never shown as it is

  // Filled by pipeline, which has the file and the redactor at hand.
  std::string matched;  // the reading as it may be shown: masked, printable, short; empty: as the source says
  std::string
      fingerprint;  // of the rule and the lines of the finding, wherever they stand (pipeline/gate/finding_marks.h)
  Region region;
};

bool operator<(const Finding& a, const Finding& b) noexcept;

}  // namespace guard
