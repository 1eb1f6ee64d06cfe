// The scan for many literals against a comparison of each literal with each place.
#include "redact/trigger_table.h"

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
  static const std::vector<Literal> all = {
      {"sk-"},        {"hf_"},   {":aa"},         {"pwd", true},    {"akia"},
      {"jira", true}, {"xoxb-"}, {"token", true}, {"secret", true}, {"a-rather-long-literal"},
      {"abcd"},       {"abcde"}, {"bcdef"}};
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

TEST(TriggerTable, FindsWhatAComparisonAtEveryPlaceFinds) {
  TriggerTable table;
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
    std::vector<Offset> found;
    const StreamText stream(text, 0, false);
    for (Offset at = table.next(stream, 0); at < stream.end(); at = table.next(stream, at + 1)) found.push_back(at);
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

TEST(TriggerTable, ShortLiteralIsOnlySoughtBeforeABytesThatMayFollow) {
  TriggerTable table;
  table.add({"sk-", false, false, 0}, *ByteSet::parse("0-9"));
  table.group();
  const std::string text(1200, ' ');
  for (const char* const found : {"sk-7", "sk-"}) {  // at the end of what is there nothing is known yet
    const std::string with = text + found;
    EXPECT_EQ(table.next(StreamText(with, 0, false), 0), 1200u) << found;
  }
  for (std::size_t at = 0; at < 600; ++at) {
    std::string with = text;
    with.replace(at, 4, "sk-7");
    EXPECT_EQ(table.next(StreamText(with, 0, false), 0), at);
  }
}

}  // namespace
}  // namespace guard
