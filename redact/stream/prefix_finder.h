// Finds the secrets that begin with a literal: keys with a vendor's prefix, named values, PEM keys.
//
// A trigger that is seen whole is a candidate; it is decided once its window is there (256 bytes, or the rest of the
// line). The tail of a secret is then swallowed byte by byte, so its length costs no memory. Per kind, matches do not
// overlap: a candidate inside a secret of its own kind is not looked at, which keeps floods of prefixes linear.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/result.h"
#include "redact/kinds/known_values.h"
#include "redact/kinds/pem_tail.h"
#include "redact/kinds/secret_kind.h"
#include "redact/kinds/secret_matcher.h"
#include "redact/kinds/secret_source.h"
#include "redact/stream/stream_text.h"
#include "redact/stream/trigger_scan.h"

namespace guard {

class PrefixFinder {
 public:
  explicit PrefixFinder(const SecretSource::State& secrets);  // must outlive the finder

  // `triggers` must have looked at the text, and `known` have advanced over it before. `outer`: of the stream that
  // `text` is another reading of.
  Result<void> advance(const StreamText& text, TriggerScan& triggers, const KnownFinder& known, const OuterMask* outer,
      std::vector<SecretSpan>& spans);

  // Every span that begins before this has been reported.
  Offset frontier() const noexcept { return frontier_; }

  // For a stream that was cut by force: from where on the text may be the beginning of a secret (with at least
  // kLiveLiteralBytes of a literal, or all of it); text.end() where it can't. After advance().
  Offset live_from(const StreamText& text, TriggerScan& triggers, std::uint32_t& marker) const;

  static constexpr std::size_t kLiveLiteralBytes = 4;

 private:
  struct KindState {
    Offset end = 0;  // of the last secret, as far as it is known
    bool swallowing = false;
    std::unique_ptr<LastRefusal> last;
  };
  // Where the candidate of `kind` at `at` begins: bytes that lead up to the prefix belong to it.
  Offset lead_of(const SecretKind& kind, const StreamText& text, Offset at) const;
  void swallow(const StreamText& text, std::uint32_t kind, std::vector<SecretSpan>& spans);
  Result<void> follow_pem(const StreamText& text, std::vector<SecretSpan>& spans);
  struct Masks {
    const KnownFinder* known;
    const OuterMask* outer;
  };
  bool left_masked(Offset from, const Masks& masks) const;
  bool may_begin(const SecretKind& kind, const StreamText& text, Offset from, const Masks& masks) const;
  Result<bool> decide_at(const StreamText& text, Offset at, const Masks& masks, std::vector<SecretSpan>& spans);
  Result<void> decide(
      const StreamText& text, std::uint32_t kind, Offset at, const Masks& masks, std::vector<SecretSpan>& spans);
  std::optional<std::string_view> window(const StreamText& text, Offset from, Value value);

  const SecretSource::State* secrets_;
  std::uint32_t first_marker_;
  std::vector<KindState> states_;
  std::vector<std::uint32_t> swallowing_;
  struct OpenPem {
    PemTail tail;
    std::uint32_t kind = 0;
  };
  std::optional<OpenPem> pem_;
  Offset scan_ = 0;  // every trigger before this has been decided
  Offset frontier_ = 0;
  // What was asked for last, by Value: most kinds that begin with one literal have the same window.
  struct Window {
    Offset from = 0;
    std::optional<std::string_view> text;
  };
  std::array<std::optional<Window>, 2> windows_;  // of the text that is advanced over
  ByteSet leads_;                                 // of all kinds
  std::size_t lead_max_ = 0;
};

}  // namespace guard
