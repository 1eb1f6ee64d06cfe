#include "validator/change/line_changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace guard {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t feed = text.find('\n', at);
    const std::size_t end = feed == std::string::npos ? text.size() : feed + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

std::size_t common_length(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::vector<std::size_t>> best(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;)
      best[i][j] = a[i] == b[j] ? best[i + 1][j + 1] + 1 : std::max(best[i + 1][j], best[i][j + 1]);
  }
  return best[0][0];
}

// What holds of every comparison, exact or not.
void expect_lawful(const std::string& before, const std::string& after) {
  SCOPED_TRACE("before: " + before.substr(0, 200) + "\nafter: " + after.substr(0, 200));
  const LineChanges changes = compare_lines(before, after);
  const auto old_lines = lines_of(before);
  const auto new_lines = lines_of(after);
  std::vector<bool> added(new_lines.size());
  std::uint64_t count = 0;
  std::uint32_t last = 0;
  for (const auto& [first, end] : changes.added) {
    ASSERT_GT(first, last) << "ranges must rise and be apart";
    ASSERT_LE(first, end);
    ASSERT_LE(end, new_lines.size());
    if (last != 0) {
      ASSERT_GT(first, last + 1) << "two ranges that touch are one";
    }
    for (std::uint32_t line = first; line <= end; ++line) added[line - 1] = true;
    count += end - first + 1;
    last = end;
  }
  EXPECT_EQ(changes.lines_added, count);
  // The lines that are not added stand in the old text, in this order.
  std::size_t at = 0;
  std::uint64_t kept = 0;
  for (std::size_t i = 0; i < new_lines.size(); ++i) {
    if (added[i]) continue;
    while (at < old_lines.size() && old_lines[at] != new_lines[i]) ++at;
    ASSERT_LT(at, old_lines.size()) << "line " << i + 1 << " is said to be kept and is not there before";
    ++at;
    ++kept;
  }
  EXPECT_EQ(changes.lines_removed, old_lines.size() - kept);
  const std::set<std::string> known(old_lines.begin(), old_lines.end());
  for (std::size_t i = 0; i < new_lines.size(); ++i) {
    if (!known.contains(new_lines[i])) {
      EXPECT_TRUE(added[i]) << "line " << i + 1 << " is new";
    }
  }
}

TEST(LineChanges, SaysWhichLinesAreNew) {
  const auto changes = compare_lines("a\nb\nc\n", "a\nx\nc\ny\nz\n");
  EXPECT_EQ(changes.added, (LineRanges{{2, 2}, {4, 5}}));
  EXPECT_EQ(changes.lines_added, 3u);
  EXPECT_EQ(changes.lines_removed, 1u);
}

TEST(LineChanges, AllOfANewTextIsNewAndNothingOfTheSameOne) {
  EXPECT_EQ(compare_lines("", "a\nb").added, (LineRanges{{1, 2}}));
  EXPECT_EQ(compare_lines("a\nb", "").lines_removed, 2u);
  EXPECT_TRUE(compare_lines("a\nb", "a\nb").added.empty());
  EXPECT_TRUE(compare_lines("", "").added.empty());
}

TEST(LineChanges, ALastLineWithoutALineFeedIsAnotherLine) {
  EXPECT_EQ(compare_lines("a\nb", "a\nb\n").added, (LineRanges{{2, 2}}));
  EXPECT_EQ(compare_lines("a\nb\n", "a\nb").added, (LineRanges{{2, 2}}));
  EXPECT_EQ(compare_lines("b", "ab").added, (LineRanges{{1, 1}}));
  EXPECT_EQ(compare_lines("ab", "b").added, (LineRanges{{1, 1}}));
}

// Lines are counted by line feeds alone, whatever else an editor takes for a line's end.
TEST(LineChanges, CarriageReturnsAndNulsAreBytesOfTheLine) {
  EXPECT_EQ(compare_lines("a\nb\n", "a\r\nb\n").added, (LineRanges{{1, 1}}));
  EXPECT_EQ(compare_lines("a\rb\n", "a\rb\rc\nd\n").added, (LineRanges{{1, 2}}));
  EXPECT_EQ(compare_lines(std::string("a\0b\n", 4), std::string("a\0c\n", 4)).added, (LineRanges{{1, 1}}));
}

TEST(LineChanges, AMovedLineIsNewWhereItStandsNow) {
  const auto changes = compare_lines("a\nb\nc\nd\n", "b\nc\nd\na\n");
  EXPECT_EQ(changes.added, (LineRanges{{4, 4}}));
}

TEST(LineChanges, KeepsAsMuchAsCanBeKept) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const auto text = [&] {
      std::string made;
      const auto count = random() % 12;
      for (std::size_t i = 0; i < count; ++i) made += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
      return made;
    };
    const std::string before = text();
    const std::string after = text();
    expect_lawful(before, after);
    const auto changes = compare_lines(before, after);
    EXPECT_EQ(lines_of(after).size() - changes.lines_added, common_length(lines_of(before), lines_of(after)))
        << before << "->" << after;
    if (HasFailure()) return;
  }
}

TEST(LineChanges, LawsHoldForAnyBytes) {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    const auto text = [&] {
      std::string made;
      const auto count = random() % 40;
      for (std::size_t i = 0; i < count; ++i) made += "ab\n\n\n\r"[random() % 6];
      return made;
    };
    expect_lawful(text(), text());
    if (HasFatalFailure()) return;
  }
}

// Too different to be compared: more lines are new then, never fewer.
TEST(LineChanges, WhatIsTooDifferentIsNewInFull) {
  std::mt19937 random(13);
  std::string before;
  std::string after;
  for (int i = 0; i < 20'000; ++i) {
    before += std::to_string(random() % 50) + "\n";
    after += std::to_string(random() % 50) + "\n";
  }
  expect_lawful("head\n" + before + "tail\n", "head\n" + after + "tail\n");
  const auto changes = compare_lines("head\n" + before + "tail\n", "head\n" + after + "tail\n");
  EXPECT_GT(changes.lines_added, 15'000u);
  EXPECT_EQ(compare_lines(std::string(1u << 19, '\n'), std::string(1u << 19, '\n') + "new\n").added,
      (LineRanges{{(1u << 19) + 1, (1u << 19) + 1}}));
}

TEST(LineChanges, ALongFileWithFewChangesIsComparedExactly) {
  std::string before;
  std::string after;
  for (int i = 0; i < 50'000; ++i) {
    before += "line " + std::to_string(i % 1000) + "\n";
    after += (i % 100 == 0 ? "changed " : "line ") + std::to_string(i % 1000) + "\n";
  }
  EXPECT_EQ(compare_lines(before, after).lines_added, 500u);
  expect_lawful(before, after);
}

TEST(LineChanges, WhatWasNoFileIsNewInFull) {
  ChangedFile file;
  file.before = EntryKind::link;
  file.after = EntryKind::file;
  file.old_bytes = "a\n";
  file.new_bytes = "a\nb\n";
  count_lines(file);
  EXPECT_EQ(file.added, (LineRanges{{1, 2}}));
  file.after = EntryKind::absent;
  file.before = EntryKind::executable;
  count_lines(file);
  EXPECT_TRUE(file.added.empty());
  EXPECT_EQ(file.lines_removed, 1u);
}

}  // namespace
}  // namespace guard
