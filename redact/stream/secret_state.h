// The inside of a SecretSource: everything that redactors share.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redact/kinds/kind_table.h"
#include "redact/kinds/known_values.h"
#include "redact/kinds/secret_matcher.h"
#include "redact/kinds/secret_source.h"
#include "redact/stream/trigger_scan.h"
#include "redact/stream/wrapped_runs.h"

namespace guard {

class SeamTable;

struct SecretSource::State {
  explicit State(const KindTable& table);
  ~State();

  // What each span's `kind` points at: first the known values, then `kinds`, then `runs`. Of spans that begin together
  // the first in this order names the marker.
  std::vector<std::string> known_names;  // "env:NAME"
  std::span<const SecretKind> kinds;
  std::span<const SecretKind> runs;
  std::unique_ptr<const OwnKindTable> own;  // where kinds and runs live that are not shipped
  KnownValues known;
  TriggerTable triggers;
  std::vector<bool> kinds_off;  // by kinds, then runs; empty: all are on
  std::vector<std::pair<std::string, std::string>> refused;

  std::uint32_t first_kind() const noexcept { return static_cast<std::uint32_t>(known_names.size()); }
  std::uint32_t first_run() const noexcept { return first_kind() + static_cast<std::uint32_t>(kinds.size()); }
  bool is_off(std::size_t kind_or_run) const { return !kinds_off.empty() && kinds_off[kind_or_run]; }

  // "anthropic", "env:NAME"
  std::string_view name(std::uint32_t marker) const {
    if (marker < first_kind()) return known_names[marker];
    return marker < first_run() ? kinds[marker - first_kind()].name : runs[marker - first_run()].name;
  }

  Result<KindMatch> decide(std::uint32_t kind, const Candidate& candidate, LastRefusal* last = nullptr) const;

  // Made when a line end first asks for it.
  const SeamTable& seams() const;

  // A named value that is hidden in part by another kind goes on behind that part: NAME=<key>rest. The alphabet in
  // which it goes on; nullptr for spans that are no named values. Without this the output, which shows
  // NAME=[REDACTED:...]rest, would be redacted once more by the next reader.
  const ByteSet* named_value_tail(std::uint32_t marker) const {
    if (marker < first_kind() || marker >= first_run()) return nullptr;
    const SecretKind& kind = kinds[marker - first_kind()];
    return kind.has_group ? &kind.tail : nullptr;
  }

  // For runs of all alphabets that were broken into lines; nothing where there are no runs.
  std::optional<WrappedRuns> wrapped_runs() const {
    ByteSet chars;
    ByteSet pad;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (is_off(kinds.size() + i)) continue;
      chars |= runs[i].run_chars;
      pad |= runs[i].run_pad;
    }
    if (chars.empty()) return std::nullopt;
    return WrappedRuns(chars, pad, first_run());
  }

 private:
  std::unique_ptr<std::atomic<const SecretMatcher*>[]> judges_;  // by kind; made when first needed
  mutable std::atomic<const SeamTable*> seams_ = nullptr;
};

inline std::string marker_text(std::string_view kind) { return "[REDACTED:" + std::string(kind) + "]"; }

}  // namespace guard
