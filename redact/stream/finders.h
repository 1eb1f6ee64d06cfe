// All finders over one reading of a stream.
#pragma once

#include <optional>
#include <vector>

#include "redact/kinds/known_values.h"
#include "redact/stream/prefix_finder.h"
#include "redact/stream/run_finder.h"
#include "redact/stream/secret_state.h"

namespace guard {

class Finders {
 public:
  // `secrets` must outlive this.
  explicit Finders(const SecretSource::State& secrets);

  // Reports what can be decided in `text`, which holds kLeftContextBytes before the frontier. `triggers` has looked at
  // it. `outer`: of the stream that `text` is another reading of.
  Result<void> advance(
      const StreamText& text, TriggerScan& triggers, const OuterMask* outer, std::vector<SecretSpan>& spans);

  // Every span that begins before this has been reported.
  Offset frontier() const;

  // For a stream that was cut by force: adds what at the end of `text` may be the beginning of a secret. After
  // advance().
  void add_live_end(const StreamText& text, TriggerScan& triggers, std::vector<SecretSpan>& spans) const;

 private:
  const SecretSource::State* secrets_;
  KnownFinder known_;
  PrefixFinder prefixes_;
  std::vector<RunFinder> runs_;
  std::optional<WrappedRuns> wrapped_;  // nothing where there are no runs
};

}  // namespace guard
