// The inside of a SecretSource: everything that redactors share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redact/known_values.h"
#include "redact/secret_kind.h"
#include "redact/secret_source.h"
#include "redact/trigger_table.h"
#include "redact/wrapped_runs.h"

namespace guard {

struct SecretSource::State {
  // What each span's `kind` points at: first the known values, then `kinds`, then `runs`. Of spans that begin together
  // the first in this order names the marker, so kinds with longer prefixes stand first
  // and those that go by looks alone last.
  std::vector<std::string> markers;  // "anthropic", "env:NAME"
  KnownValues known;
  std::vector<SecretKind> kinds;
  std::vector<SecretKind> runs;
  std::uint32_t first_kind = 0;  // index of kinds[0] in markers
  std::uint32_t first_run = 0;

  // A named value that is hidden in part by another kind goes on behind that part: NAME=<key>rest. The alphabet in
  // which it goes on; nullptr for spans that are no named values. Without this the output, which shows
  // NAME=[REDACTED:...]rest, would be redacted once more by the next reader.
  const ByteSet* named_value_tail(std::uint32_t marker) const {
    if (marker < first_kind || marker >= first_run) return nullptr;
    const SecretKind& kind = kinds[marker - first_kind];
    return kind.has_group ? &kind.tail : nullptr;
  }

  // For runs of all alphabets that were broken into lines; nothing where there are no runs.
  std::optional<WrappedRuns> wrapped_runs() const {
    if (runs.empty()) return std::nullopt;
    ByteSet chars;
    ByteSet pad;
    for (const SecretKind& run : runs) {
      chars |= run.run_chars;
      pad |= run.run_pad;
    }
    return WrappedRuns(chars, pad, first_run);
  }

  TriggerTable triggers;
  std::vector<std::pair<std::string, std::string>> refused;
};

inline std::string marker_text(const std::string& kind) {
  return "[REDACTED:" + kind + "]";
}

}  // namespace guard
