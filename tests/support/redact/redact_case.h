// Runs one case of the redactor in all the ways in which output can reach it:
//   1. as one chunk, 2. in single bytes, 3. in random chunks of 200 seeds, 4. cut once at every offset,
//   5. with the cap at every offset of the text and of what becomes of it.
// Besides: killed at every offset; a second pass changes nothing; never more is held than kCarryBytesMax; a line that
// stands before it leaves at once. In each of these, no eight bytes of a secret can be read, nor more than three bytes
// of its beginning.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "common/output_cap.h"
#include "redact/stream/gap.h"
#include "tests/support/redact/redact_fixture.h"
#include "tests/support/redact/redact_oracle.h"

namespace guard::test {

// One text out of several: keeps literals that a scanner would report out of the tests.
template <class... Parts>
std::string joined(const Parts&... parts) {
  std::string text;
  (text.append(parts), ...);
  return text;
}

inline const std::string kTelegram = joined("TELEGRAM_", "BOT_TOKEN");
inline const std::string kKnownValue = "x9Kx9Lq-" + random_text(32, 71);

// "<1>" in `text` stands for secrets[0].
inline std::string filled(std::string text, const std::vector<std::string>& secrets) {
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    const std::string place = "<" + std::to_string(i + 1) + ">";
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + secrets[i].size())) {
      text.replace(at, place.size(), secrets[i]);
    }
  }
  return text;
}

inline bool ends_inside_marker(std::string_view text) {
  const std::size_t open = text.rfind("[REDACTED:");
  if (open != std::string_view::npos && text.find(']', open) == std::string_view::npos) return true;
  for (std::string_view begun = "[REDACTED"; begun.size() > 1; begun.remove_suffix(1)) {
    if (text.ends_with(begun)) return true;
  }
  return false;
}

inline std::string without_markers(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::size_t open = text.find("[REDACTED:");
    const std::size_t close = open == std::string_view::npos ? open : text.find(']', open);
    kept += text.substr(0, close == std::string_view::npos ? text.size() : open);
    text.remove_prefix(close == std::string_view::npos ? text.size() : close + 1);
  }
  return kept;
}

// How many bytes of a secret may be seen of which only the beginning arrived. Of a literal three: a fourth makes it a
// candidate. Secrets that no literal begins (long runs, the number before a Telegram token) are nothing before 8 bytes.
// The line that ends a PEM key is no secret: it may be seen where the key was cut in it.
enum class Begun : std::size_t { with_a_literal = 3, without_one = 7, pem = 40 };

struct Case {
  std::string text;
  std::string expected;
  std::vector<std::string> secrets;
  Begun begun = Begun::with_a_literal;
};

inline void expect_hidden(std::string_view out, const Case& one, std::string_view when) {
  for (const std::string& secret : one.secrets) {
    ASSERT_FALSE(shows(out, secret)) << when << ": " << testing::PrintToString(std::string(out));
  }
}

// Every offset. Of texts that are longer than that (tokens and runs that no window and no buffer holds) those near the
// ends, and a hundred between: in such a secret each byte is like the next.
inline std::vector<std::size_t> offsets_of(std::size_t size) {
  constexpr std::size_t kLong = 3000;
  constexpr std::size_t kDense = 600;
  std::vector<std::size_t> offsets;
  for (std::size_t at = 1; at <= size; at += size < kLong || at < kDense || at + kDense > size ? 1 : size / 100) {
    offsets.push_back(at);
  }
  return offsets;
}

// The cap counts what is kept, so it falls on every byte of a marker; and on those of longer texts, which it would have
// met in the secret.
inline void expect_capped(const SecretSource& source, const Case& one) {
  for (const std::size_t cap : offsets_of(std::max(one.text.size(), one.expected.size()) + 1)) {
    MemorySink sink;
    OutputBudget budget(cap);
    OutputCap capped(budget, sink);
    auto redactor = Redactor::create(source, capped);
    ASSERT_TRUE(redactor.has_value());
    const std::size_t half = cap % one.text.size();
    ASSERT_TRUE(redactor->push(std::string_view(one.text).substr(0, half)).has_value());
    ASSERT_TRUE(redactor->push(std::string_view(one.text).substr(half)).has_value());
    ASSERT_TRUE(redactor->finish().has_value());
    const std::string when = fmt::format("cap {}", cap);
    ASSERT_LE(sink.text.size(), cap);
    ASSERT_EQ(one.expected.substr(0, sink.text.size()), sink.text) << when;
    ASSERT_EQ(budget.kept_bytes() + budget.dropped_bytes(), one.expected.size()) << when;
    if (sink.text.size() < one.expected.size()) {
      ASSERT_FALSE(ends_inside_marker(sink.text) && !one.expected.ends_with(sink.text)) << when << ": " << sink.text;
    }
    expect_hidden(sink.text, one, when);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// As a terminal shows it: without escapes, characters of no width, and what may become one at the end.
inline std::string visible(std::string_view text) {
  std::string seen;
  while (!text.empty()) {
    const Gap gap = gap_at(text, false);
    if (gap.kind == Gap::Kind::undecided) return seen;
    if (gap.kind == Gap::Kind::none) seen += text.front();
    text.remove_prefix(std::max<std::size_t>(gap.size, 1));
  }
  return seen;
}

// The stream is killed behind every byte. What is seen then is what would have been kept of it, and of a secret that
// had just begun no more than `begun` allows.
inline void expect_hidden_when_killed(const SecretSource& source, const Case& one) {
  const std::string kept = without_markers(one.expected);
  for (const std::size_t size : offsets_of(one.text.size())) {
    const std::string_view text = std::string_view(one.text).substr(0, size);
    const std::string out = stream(source, text, {}, Ending::cut);
    const std::string when = fmt::format("killed at {}", size);
    expect_hidden(out, one, when);
    if (testing::Test::HasFatalFailure()) return;
    const std::string seen = without_markers(out);
    const auto differs = std::mismatch(seen.begin(), seen.end(), kept.begin(), kept.end()).first;
    ASSERT_LE(visible({differs, seen.end()}).size(), static_cast<std::size_t>(one.begun))
        << when << ": " << testing::PrintToString(out);
    const auto chunks = random_cuts(size, static_cast<unsigned>(size));
    ASSERT_EQ(stream(source, text, chunks, Ending::cut), out) << when << ", in chunks";
  }
}

// A finished line that has nothing to do with the case.
inline void expect_line_released(const SecretSource& source, const Case& one) {
  const std::string line = "(pass) adds two numbers\n";
  MemorySink sink;
  auto redactor = Redactor::create(source, sink);
  ASSERT_TRUE(redactor.has_value());
  ASSERT_TRUE(redactor->push(line).has_value());
  ASSERT_EQ(sink.text, line);
  ASSERT_TRUE(redactor->push(one.text).has_value());
  ASSERT_TRUE(redactor->finish().has_value());
  ASSERT_EQ(sink.text, line + one.expected);
}

inline void expect_law(const SecretSource& source, const Case& one) {
  const auto whole = redact_whole(source, one.text);
  ASSERT_TRUE(whole.has_value()) << whole.error().to_string();
  ASSERT_EQ(*whole, one.expected) << "the definition";
  ASSERT_EQ(stream(source, one.text, {}), one.expected) << "one chunk";
  ASSERT_EQ(stream(source, one.text, every_byte(one.text.size())), one.expected) << "single bytes";
  constexpr unsigned kSeeds = 200;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    ASSERT_EQ(stream(source, one.text, random_cuts(one.text.size(), seed)), one.expected) << "random chunks " << seed;
  }
  for (const std::size_t cut : offsets_of(one.text.size() - 1)) {
    ASSERT_EQ(stream(source, one.text, {cut}), one.expected) << "cut at " << cut;
  }
  ASSERT_EQ(stream(source, one.expected, {}), one.expected) << "second pass";
  ASSERT_EQ(redact_whole(source, one.expected).value_or(""), one.expected) << "second pass of the definition";
}

inline void check(const SecretSource& source, const Case& one) {
  SCOPED_TRACE(testing::PrintToString(one.text.substr(0, 120)));
  ASSERT_FALSE(one.text.empty());
  expect_hidden(one.expected, one, "expected");
  expect_law(source, one);
  expect_line_released(source, one);
  expect_capped(source, one);
  expect_hidden_when_killed(source, one);
}

// `pattern` and `expected` as they read, with "<1>" in the pattern for the first secret.
inline void hides(const SecretSource& source, const std::string& pattern, const std::string& expected,
    const std::vector<std::string>& secrets, Begun begun = Begun::with_a_literal) {
  check(source, {filled(pattern, secrets), expected, secrets, begun});
}

inline void hides(const std::string& pattern, const std::string& expected, const std::vector<std::string>& secrets,
    Begun begun = Begun::with_a_literal) {
  hides(shipped_kinds(), pattern, expected, secrets, begun);
}

enum class Lines { leave_at_once, may_wait };

// Nothing of `text` is hidden, and each of its lines leaves with its end. `may_wait`: lines that could be part of a
// secret that goes on behind them.
inline void keeps(const SecretSource& source, const std::string& text, Lines lines = Lines::leave_at_once) {
  SCOPED_TRACE(testing::PrintToString(text.substr(0, 120)));
  ASSERT_FALSE(text.empty());
  const Case one{text, text, {}};
  expect_law(source, one);
  expect_line_released(source, one);
  expect_capped(source, one);
  if (lines == Lines::may_wait) return;
  MemorySink sink;
  auto redactor = Redactor::create(source, sink);
  ASSERT_TRUE(redactor.has_value());
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
    ASSERT_TRUE(redactor->push(std::string_view(text).substr(from, end - from)).has_value());
    from = end;
    if (text[end - 1] != '\n') continue;
    ASSERT_EQ(sink.text, text.substr(0, end)) << "line held back";
  }
}

inline void keeps(const std::string& text, Lines lines = Lines::leave_at_once) { keeps(shipped_kinds(), text, lines); }

}  // namespace guard::test
