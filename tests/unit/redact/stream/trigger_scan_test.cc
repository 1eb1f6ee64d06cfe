// The scan for many literals against a comparison of each literal with each place.
#include "redact/stream/trigger_scan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "redact/kinds/kind_table.h"

namespace guard {
namespace {

struct Literal {
  std::string_view text;
  bool fold_case = false;
  std::string_view next{};
};

const std::vector<Literal>& literals() {
  static const std::vector<Literal> all = {{"sk-", false, "0-9a-z"}, {"hf_", false, "a-zA-Z"}, {":aa"}, {"pwd", true},
      {"akia"}, {"jira", true, "=_"}, {"xoxb-"}, {"token", true}, {"secret", true}, {"a-rather-long-literal"}, {"abcd"},
      {"abcde"}, {"bcdef"}, {"bcdefg"}, {"fetch-a"}, {"p4ssw0rd", true}, {"Pass"}, {"qqqq", true}, {"ttttttttttu"}};
  return all;
}

const std::vector<SecretKind>& kinds() {
  static const std::vector<SecretKind> all = [] {
    std::vector<SecretKind> made;
    for (const Literal& literal : literals()) {
      SecretKind kind;
      kind.prefixes = std::span(&literal.text, 1);
      kind.fold_case = literal.fold_case;
      if (!literal.next.empty()) kind.next = *ByteSet::parse(literal.next);
      made.push_back(kind);
    }
    return made;
  }();
  return all;
}

// As far as the text goes.
bool stands_at(const SecretKind& kind, std::string_view text) {
  const std::string_view literal = kind.prefixes.front();
  for (std::size_t i = 0; i < std::min(text.size(), literal.size()); ++i) {
    const bool upper = kind.fold_case && text[i] >= 'A' && text[i] <= 'Z';
    if ((upper ? static_cast<char>(text[i] - 'A' + 'a') : text[i]) != literal[i]) return false;
  }
  return kind.next.empty() || text.size() <= literal.size() || kind.next.has(text[literal.size()]);
}

std::string text_of_literals(std::mt19937& random) {
  std::string text;
  const std::size_t size = random() % 3000;
  while (text.size() < size) {
    const std::string_view literal = literals()[random() % literals().size()].text;
    std::string piece(literal.substr(0, random() % 2 == 0 ? literal.size() : 1 + random() % literal.size()));
    if (random() % 3 == 0) piece[random() % piece.size()] ^= 0x20;  // the other case, or another byte
    text += std::string(random() % 90, static_cast<char>('a' + random() % 26)) + piece;
  }
  return text;
}

TEST(TriggerScan, FindsWhatAComparisonAtEveryPlaceFinds) {
  const TriggerTable table(kinds());
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    const std::string text = text_of_literals(random);
    std::vector<Offset> expected;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const std::string_view rest = std::string_view(text).substr(at);
      if (std::any_of(kinds().begin(), kinds().end(), [&](const SecretKind& kind) { return stands_at(kind, rest); }))
        expected.push_back(at);
    }
    const StreamText stream(text, 0, false);
    TriggerScan scan(table);
    scan.look(stream);
    std::vector<Offset> found;
    for (Offset at = scan.next(stream, 0); at < stream.end(); at = scan.next(stream, at + 1)) found.push_back(at);
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

// Each stands once at the ends of blocks and between.
TEST(TriggerScan, EveryShippedPrefixIsFoundWhereverItStands) {
  const TriggerTable table(shipped_kind_table().kinds);
  for (const SecretKind& kind : shipped_kind_table().kinds) {
    for (const std::string_view prefix : kind.prefixes) {
      std::string literal(prefix);
      for (unsigned behind = 255; behind > 0; --behind) {
        if (kind.next.empty() || !kind.next.has(static_cast<char>(behind))) continue;
        literal += static_cast<char>(behind);
        break;
      }
      for (std::size_t i = 0; kind.fold_case && i < prefix.size(); i += 2) {
        if (literal[i] >= 'a' && literal[i] <= 'z') literal[i] = static_cast<char>(literal[i] - 'a' + 'A');
      }
      for (const std::size_t at : {0u, 1u, 31u, 32u, 62u, 63u, 64u, 505u, 511u, 512u, 513u, 1025u}) {
        const std::string text = std::string(at, ' ') + literal + std::string(1200 - at, ' ');
        const StreamText stream(text, 0, false);
        TriggerScan scan(table);
        scan.look(stream);
        EXPECT_EQ(scan.next(stream, 0), at) << literal;
      }
    }
  }
}

// What a scan remembers of one push holds for the next: it finds the same in text that grows at its end, and of which
// the beginning is forgotten, as in text that is there.
TEST(TriggerScan, GoesOnInTextThatGrows) {
  const TriggerTable table(kinds());
  std::mt19937 random(5);
  constexpr std::size_t kLongest = 21;
  for (int round = 0; round < 50; ++round) {
    const std::string text = text_of_literals(random);
    const StreamText whole(text, 0, false);
    TriggerScan at_once(table);
    at_once.look(whole);
    TriggerScan scan(table);
    std::vector<Offset> found;
    Offset at = 0;
    for (std::size_t size = 0; size <= text.size(); size += 1 + random() % 9) {
      const std::size_t begin = at - std::min<Offset>(at, random() % 100);
      const StreamText stream(std::string_view(text).substr(begin, size - begin), begin, false);
      scan.look(stream);
      for (at = scan.next(stream, at); at < stream.end(); at = scan.next(stream, at + 1)) {
        if (stream.end() - at <= kLongest) break;  // may be a part of one: asked again
        found.push_back(at);
      }
    }
    for (Offset expected = at_once.next(whole, 0); const Offset each : found) {
      ASSERT_EQ(each, expected) << "round " << round;
      expected = at_once.next(whole, expected + 1);
    }
  }
}

}  // namespace
}  // namespace guard
