// What the redaction tests share: a sink that remembers, synthetic secrets, the shipped kinds, and the ways to cut an
// input.
#pragma once

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "redact/kinds/secret_source.h"
#include "redact/redactor.h"
#include "redact/stream/gap.h"
#include "rules/rule_loader.h"
#include "tests/support/redact/redact_oracle.h"

namespace guard::test {

class MemorySink final : public ByteSink {
 public:
  Result<void> push(std::span<const char> bytes) override {
    text.append(bytes.data(), bytes.size());
    return ok();
  }
  Result<void> finish() override {
    finished = true;
    return ok();
  }
  std::string text;
  bool finished = false;
};

inline const RuleSet& secret_rules() {
  static const RuleSet rules = [] {
    auto loaded = load_rules(GUARD_SOURCE_DIR "/rules/secrets");
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().to_string());
    return std::move(*loaded);
  }();
  return rules;
}

inline SecretSource source_with(std::vector<KnownSecret> known) {
  auto source = SecretSource::create(secret_rules(), std::move(known));
  EXPECT_TRUE(source.has_value()) << (source ? "" : source.error().to_string());
  return std::move(*source);
}

inline const SecretSource& shipped_kinds() {
  static const SecretSource source = source_with({});
  return source;
}

// Fixed pseudo-random characters; the same `seed` gives the same text in every run. Upper case, lower case and a digit
// are among the first three, as they are (nearly always) in real keys of this length.
inline std::string random_text(std::size_t size, unsigned seed = 1,
    std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") {
  std::minstd_rand random(seed * 7919 + 13);
  std::string text;
  while (text.size() < size) text += alphabet[(random() >> 7) % alphabet.size()];
  if (alphabet.size() == 62 && size >= 3) text.replace(0, 3, "Kq7");
  return text;
}

inline std::string repeat(std::string_view piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

inline std::string hex_text(std::size_t size, unsigned seed = 1) { return random_text(size, seed, "0123456789abcdef"); }

// Key shapes, put together at run time so that this file holds no literal that a scanner would report.
inline std::string anthropic_key(std::string_view family = "api03") {
  return std::string("sk-") + "ant-" + std::string(family) + "-" + random_text(93, 3) + "AA";
}
inline std::string openai_key() { return std::string("sk") + "-" + random_text(48, 4); }
inline std::string telegram_token() { return std::string("123456789") + ":AA" + random_text(33, 5); }
inline std::string jwt(std::size_t payload = 40) {
  return std::string("ey") + "JhbGciOiJIUzI1NiJ9.ey" + "J" + random_text(payload, 6) + "." + random_text(43, 7);
}
inline std::string pem(std::string_view label = "PRIVATE KEY", std::string_view line_end = "\n",
    std::string_view indent = "", int lines = 24) {
  const std::string dashes(5, '-');
  std::string text = std::string(indent) + dashes + "BEGIN " + std::string(label) + dashes + std::string(line_end);
  for (int i = 0; i < lines; ++i) {
    text += std::string(indent) + random_text(64, 100 + static_cast<unsigned>(i)) + std::string(line_end);
  }
  return text + std::string(indent) + dashes + "END " + std::string(label) + dashes;
}

enum class Ending { natural, cut };

// Pushes `text` cut before each of `cuts` (ascending) and returns what came out.
inline std::string stream(const SecretSource& source, std::string_view text, const std::vector<std::size_t>& cuts,
    Ending ending = Ending::natural) {
  MemorySink sink;
  auto redactor = Redactor::create(source, sink);
  EXPECT_TRUE(redactor.has_value());
  std::size_t from = 0;
  const auto plain = [](char c) { return (c >= ' ' && c <= '~') || c == '\t' || c == '\n' || c == '\r'; };
  const bool gaps = !std::all_of(text.begin(), text.end(), plain);
  const std::size_t held_max = gaps ? Redactor::kHeldInGapsMax : Redactor::kHeldBytesMax;
  const auto push = [&](std::size_t to) {
    EXPECT_TRUE(redactor->push(std::span(text.data() + from, to - from)).has_value());
    EXPECT_LE(redactor->held_bytes(), held_max);
    EXPECT_LE(redactor->carried_bytes(), Redactor::kCarryBytesMax);
    from = to;
  };
  for (const std::size_t cut : cuts) push(cut);
  push(text.size());
  EXPECT_TRUE((ending == Ending::cut ? redactor->finish_cut() : redactor->finish()).has_value());
  EXPECT_TRUE(sink.finished);
  return sink.text;
}

inline std::vector<std::size_t> every_byte(std::size_t size) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < size; ++i) cuts.push_back(i);
  return cuts;
}

// Mostly small steps, now and then a large one: both kinds of boundary are met.
inline std::vector<std::size_t> random_cuts(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::size_t> cuts;
  for (std::size_t at = 0;;) {
    at += 1 + random() % (random() % 4 == 0 ? 700 : 24);
    if (at >= size) return cuts;
    cuts.push_back(at);
  }
}

// The law: however the input is cut, the output is that of the definition; and redacting twice changes nothing.
// Returns the output.
inline std::string redacted(const SecretSource& source, std::string_view text) {
  const auto whole = redact_whole(source, text);
  EXPECT_TRUE(whole.has_value()) << (whole ? "" : whole.error().to_string());
  const std::string expected = whole.value_or("");
  EXPECT_EQ(stream(source, text, {}), expected);
  EXPECT_EQ(stream(source, text, every_byte(text.size())), expected) << "in single bytes";
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto out = stream(source, text, random_cuts(text.size(), seed));
    EXPECT_EQ(out, expected) << "random cuts, seed " << seed;
    if (out != expected) break;
  }
  if (text.size() <= 4096) {
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const auto out = stream(source, text, {cut});
      EXPECT_EQ(out, expected) << "cut at " << cut;
      if (out != expected) break;
    }
  }
  EXPECT_EQ(stream(source, expected, {}), expected) << "not idempotent";
  return expected;
}

inline std::string redacted(std::string_view text) { return redacted(shipped_kinds(), text); }

// True if eight bytes in a row of `secret` can be read in `text`.
inline bool shows(std::string_view text, std::string_view secret) {
  for (std::size_t i = 0; i + 8 <= secret.size(); ++i) {
    if (text.find(secret.substr(i, 8)) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace guard::test
