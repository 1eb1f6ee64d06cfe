// Any bytes, cut anywhere: the stream says what the definition says, twice is once, terminal safety is cut-proof too,
// and the cap keeps its promise. The first bytes of the input choose the cuts.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/output_cap.h"
#include "redact/kinds/secret_source.h"
#include "redact/redactor.h"
#include "redact/stream/terminal_safety.h"
#include "rules/rule_set.h"
#include "tests/support/redact/redact_oracle.h"

namespace {

class MemorySink final : public guard::ByteSink {
 public:
  guard::Result<void> push(std::span<const char> bytes) override {
    text.append(bytes.data(), bytes.size());
    return guard::ok();
  }
  guard::Result<void> finish() override { return guard::ok(); }
  std::string text;
};

void require(bool holds) {
  if (!holds) std::abort();
}

const guard::SecretSource& secrets() {
  static const guard::SecretSource source = [] {
    auto created = guard::SecretSource::create(guard::RuleSet::shipped(),
        {{"LONG", "x9Kx9Lq-abcdefghijklmnop"}, {"SHORT", "pass-w0rd"}, {"LINES", "line one 1\nline two 2"}});
    require(created.has_value());
    return std::move(*created);
  }();
  return source;
}

// Pushes `text` in pieces whose sizes come from `cuts`, over and over.
void push_in_pieces(guard::ByteSink& sink, std::string_view text, std::string_view cuts) {
  std::size_t turn = 0;
  while (!text.empty()) {
    const std::size_t wanted = cuts.empty() ? text.size() : 1 + static_cast<unsigned char>(cuts[turn++ % cuts.size()]);
    const std::size_t size = std::min(wanted, text.size());
    require(sink.push(text.substr(0, size)).has_value());
    text.remove_prefix(size);
  }
}

std::string redacted(std::string_view text, std::string_view cuts, bool by_force) {
  MemorySink sink;
  auto redactor = guard::Redactor::create(secrets(), sink);
  require(redactor.has_value());
  push_in_pieces(*redactor, text, cuts);
  require(redactor->held_bytes() <= guard::Redactor::kHeldInGapsMax);
  require(redactor->carried_bytes() <= guard::Redactor::kCarryBytesMax);
  require((by_force ? redactor->finish_cut() : redactor->finish()).has_value());
  return sink.text;
}

std::string safe(std::string_view text, std::string_view cuts) {
  MemorySink sink;
  guard::TerminalSafety safety(sink);
  push_in_pieces(safety, text, cuts);
  require(safety.finish().has_value());
  return sink.text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view cuts = input.substr(0, 4);
  const std::string_view text = input.substr(cuts.size());

  const auto whole = guard::redact_whole(secrets(), text);
  require(whole.has_value());
  require(redacted(text, cuts, false) == *whole);
  require(redacted(text, "", false) == *whole);
  require(redacted(text, cuts, true) == redacted(text, "", true));

  const std::string shown = safe(*whole, cuts);
  require(shown == safe(*whole, ""));
  require(shown == safe(shown, cuts));

  const std::uint64_t max = 1 + size / 2;
  guard::OutputBudget budget(max);
  MemorySink kept;
  guard::OutputCap cap(budget, kept);
  push_in_pieces(cap, shown, cuts);
  require(cap.finish().has_value());
  require(kept.text.size() <= max && shown.starts_with(kept.text));
  require(budget.kept_bytes() + budget.dropped_bytes() == shown.size());
  return 0;
}
