// The scan for many literals against a comparison of each literal with each place.
#include "redact/literals/literal_table.h"

#include "redact/kinds/kind_table.h"
#include "redact/literals/literal_scan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace guard {
namespace {

struct Literal {
  std::string text;
  bool fold_case = false;
};

const std::vector<Literal>& literals() {
  static const std::vector<Literal> all = {{"sk-"}, {"hf_"}, {":aa"}, {"pwd", true}, {"akia"}, {"jira", true},
      {"xoxb-"}, {"token", true}, {"secret", true}, {"a-rather-long-literal"}, {"abcd"}, {"abcde"}, {"bcdef"},
      {"bcdefg"}, {"fetch-a"}, {"p4ssw0rd", true}, {"Pass"}};
  return all;
}

// All that this CPU has.
std::vector<Vectors> vectors() {
  std::vector<Vectors> all = {Vectors::none};
  if (best_vectors() >= Vectors::avx2) all.push_back(Vectors::avx2);
  if (best_vectors() >= Vectors::avx512) all.push_back(Vectors::avx512);
  return all;
}

bool stands_at(const Literal& literal, std::string_view text) {
  const std::size_t size = std::min(text.size(), literal.text.size());
  if (size == 0) return false;
  for (std::size_t i = 0; i < size; ++i) {
    const char c =
        literal.fold_case && text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    if (c != literal.text[i]) return false;
  }
  return true;
}

TEST(LiteralTable, FindsWhatAComparisonAtEveryPlaceFinds) {
  LiteralTable table;
  for (const Literal& literal : literals()) table.add({literal.text, literal.fold_case, false, 0});
  table.group();
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    std::string text;
    const std::size_t size = random() % 3000;
    while (text.size() < size) {
      const Literal& literal = literals()[random() % literals().size()];
      std::string piece = literal.text.substr(0, 1 + random() % literal.text.size());
      if (random() % 2 == 0) piece = literal.text;
      if (random() % 3 == 0) piece[random() % piece.size()] ^= 0x20;  // the other case, or another byte
      text += std::string(random() % 90, static_cast<char>('a' + random() % 26)) + piece;
    }
    std::vector<Offset> expected;
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const Literal& literal : literals()) {
        if (!stands_at(literal, std::string_view(text).substr(at))) continue;
        expected.push_back(at);
        break;
      }
    }
    const StreamText stream(text, 0, false);
    for (const Vectors each : vectors()) {
      LiteralScan scan(table, each);
      std::vector<Offset> found;
      for (Offset at = scan.next(stream, 0); at < stream.end(); at = scan.next(stream, at + 1)) found.push_back(at);
      ASSERT_EQ(found, expected) << "round " << round << ", vectors " << static_cast<int>(each);
    }
  }
}

TEST(LiteralTable, ShortLiteralIsOnlySoughtBeforeABytesThatMayFollow) {
  LiteralTable table;
  table.add({"sk-", false, false, 0}, *ByteSet::parse("0-9"));
  table.group();
  const std::string text(1200, ' ');
  for (const char* const found : {"sk-7", "sk-"}) {  // at the end of what is there nothing is known yet
    const std::string with = text + found;
    EXPECT_EQ(LiteralScan(table).next(StreamText(with, 0, false), 0), 1200u) << found;
  }
  for (std::size_t at = 0; at < 600; ++at) {
    std::string with = text;
    with.replace(at, 4, "sk-7");
    EXPECT_EQ(LiteralScan(table).next(StreamText(with, 0, false), 0), at);
  }
}

// Each stands once at either half of the places that are looked up together, and at the ends of words and of blocks.
TEST(LiteralTable, EveryShippedLiteralIsFoundWhereverItStands) {
  const LiteralTable table(shipped_kind_table().triggers);
  for (const LiteralTables::Entry& entry : table.tables().entries) {
    const ByteSet& next = shipped_kind_table().kinds[entry.trigger.kind].next;
    std::string literal(entry.trigger.literal);
    for (unsigned behind = 255; behind > 0; --behind) {
      if (next.empty() || !next.has(static_cast<char>(behind))) continue;
      literal += static_cast<char>(behind);
      break;
    }
    if (entry.trigger.fold_case) {
      for (std::size_t i = 0; i < literal.size(); i += 2) {
        if (literal[i] >= 'a' && literal[i] <= 'z') literal[i] = static_cast<char>(literal[i] - 'a' + 'A');
      }
    }
    for (const std::size_t at : {0u, 1u, 2u, 3u, 28u, 29u, 30u, 31u, 62u, 63u, 64u, 65u, 1022u, 1023u, 1024u, 1025u}) {
      const std::string text = std::string(at, ' ') + literal + std::string(1200 - at, ' ');
      const StreamText stream(text, 0, false);
      for (const Vectors each : vectors()) {
        LiteralScan scan(table, each);
        EXPECT_EQ(scan.next(stream, 0), at) << literal << ", vectors " << static_cast<int>(each);
      }
    }
  }
}

// A literal that is added to a table of somebody else's, as short known values are.
TEST(LiteralTable, LiteralThatIsAddedLaterIsFound) {
  LiteralTable first;
  first.add({"token", true, false, 0});
  first.group();
  LiteralTable both(first.tables());
  both.add({"hunter2", false, true, 1});
  const std::string text = std::string(300, ' ') + "TOKEN" + std::string(900, ' ') + "hunter2 ";
  for (const Vectors each : vectors()) {
    LiteralScan scan(both, each);
    const StreamText stream(text, 0, false);
    EXPECT_EQ(scan.next(stream, 0), 300u);
    EXPECT_EQ(scan.next(stream, 301), 1205u);
    EXPECT_EQ(scan.next(stream, 1206), stream.end());
  }
}

// What a scan remembers of one push holds for the next.
TEST(LiteralTable, ScanGoesOnInTextThatGrows) {
  LiteralTable table;
  table.add({"secret", true, false, 0});
  table.add({"sk-", false, false, 1}, *ByteSet::parse("0-9"));
  table.group();
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += std::string(static_cast<std::size_t>(i), '.') + (i % 2 == 0 ? "Secret" : "sk-7");
  for (const Vectors each : vectors()) {
    LiteralScan scan(table, each);
    std::vector<Offset> found;
    Offset at = 0;
    for (std::size_t size = 0; size <= text.size(); size += 1 + size % 7) {
      const StreamText stream(std::string_view(text).substr(0, size), 0, false);
      for (at = scan.next(stream, at); at < stream.end(); at = scan.next(stream, at + 1)) {
        if (stream.end() - at < 6) break;  // may be a part of one: asked again
        found.push_back(at);
      }
    }
    std::size_t expected = 0;
    for (std::size_t place = 0; place + 6 < text.size(); ++place) {
      const bool here = text.compare(place, 6, "Secret") == 0 || text.compare(place, 3, "sk-") == 0;
      if (!here) continue;
      ASSERT_LT(expected, found.size());
      EXPECT_EQ(found[expected++], place);
    }
    EXPECT_EQ(expected, found.size());
  }
}

}  // namespace
}  // namespace guard
