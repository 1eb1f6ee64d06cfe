// Whatever a tested program writes in place of bun's report: no crash, and what is accepted adds up.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runner/init_side/bun_report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto summary = guard::parse_junit(text)) {
    std::uint64_t tests = 0;
    for (const auto& file : summary->files) tests += file.tests;
    if (tests != summary->tests || summary->passed + summary->failures + summary->skipped != summary->tests)
      std::abort();
    const auto of = [&](guard::TestState state) {
      return static_cast<std::uint64_t>(std::count_if(summary->cases.begin(), summary->cases.end(),
          [&](const guard::TestCase& test) { return test.state == state; }));
    };
    if (summary->cases.size() != tests || of(guard::TestState::failed) != summary->failures ||
        of(guard::TestState::passed) != summary->passed)
      std::abort();
  }
  // However the stream is cut, the same summary is read from its end.
  guard::TextSummaryReader whole;
  guard::TextSummaryReader parts;
  whole.push(text);
  const std::size_t cut = size == 0 ? 0 : data[0] % size;
  parts.push(text.substr(0, cut));
  parts.push(text.substr(cut));
  if (whole.error_outside() != parts.error_outside()) std::abort();
  (void)guard::parse_load_error(whole.error_outside(), "sandbox/a.test.ts");
  (void)whole.last_test();
  const auto read = whole.summary();
  const auto again = parts.summary();
  // Only up to what is kept: of a longer text the parts may keep more than the whole.
  if (size <= 8192 && read.has_value() != again.has_value()) std::abort();
  if (read && read->passed + read->failures + read->skipped != read->tests) std::abort();
  return 0;
}
