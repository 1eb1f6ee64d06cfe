// Make the Nth allocation fail, for every N: matching then fails, and never says "nothing found".

#include <gtest/gtest.h>
#include <hs/hs.h>

#include <cstdlib>
#include <optional>

#include "common/file_io.h"
#include "rules/matching/matcher.h"
#include "rules/matching/regex_dialect.h"
#include "tests/support/scoped_env.h"
#include "tests/support/validator/rule_texts.h"

namespace guard {
namespace {

// Hyperscan's allocators are plain functions, so what they share is static.
int g_allocations_left = -1;  // -1: no end

void* limited_allocation(std::size_t bytes) {
  if (g_allocations_left == 0) return nullptr;
  if (g_allocations_left > 0) --g_allocations_left;
  return std::malloc(bytes);
}

class MatcherFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempDir::create();
    ASSERT_TRUE(folder.has_value());
    cache_.emplace(std::move(*folder));
    env_.emplace("GUARD_CACHE_DIR", cache_->path().string());
  }
  void TearDown() override {
    g_allocations_left = -1;
    hs_set_allocator(nullptr, nullptr);
  }

  std::optional<TempDir> cache_;
  std::optional<testing::ScopedEnv> env_;
};

TEST_F(MatcherFaults, ScratchThatCannotBeHadIsAnError) {
  const RuleSet rules = set_of({"a+b", R"(\w+=)", "x[^y]{3,9}z"});
  const auto matcher = Matcher::create(rules);
  ASSERT_TRUE(matcher.has_value());
  ASSERT_EQ(matcher->engine(), Engine::hyperscan_and_re2);
  ASSERT_EQ(hs_set_scratch_allocator(limited_allocation, std::free), HS_SUCCESS);
  int failures = 0;
  for (int nth = 0;; ++nth) {
    ASSERT_LT(nth, 100);
    Matcher::Scratch scratch;
    std::vector<Match> found;
    g_allocations_left = nth;
    const auto scanned = matcher->scan(View::raw, "aab", scratch, found);
    g_allocations_left = -1;
    if (scanned) {
      EXPECT_EQ(found.size(), 1u);
      break;
    }
    ++failures;
    EXPECT_EQ(scanned.error().code(), ErrorCode::internal);
    EXPECT_TRUE(found.empty());
    // The same scratch serves again once memory is back.
    ASSERT_TRUE(matcher->scan(View::raw, "aab", scratch, found).has_value());
    EXPECT_EQ(found.size(), 1u);
  }
  EXPECT_GT(failures, 0);
}

// Databases that can't be made: an error, from the cache as from the compiler.
TEST_F(MatcherFaults, DatabaseThatCannotBeHadIsAnError) {
  const RuleSet rules = set_of({"a+b", R"(\w+=)"});
  for (const bool cached : {false, true}) {
    if (cached) {
      ASSERT_TRUE(Matcher::create(rules).has_value());
    }
    ASSERT_EQ(hs_set_database_allocator(limited_allocation, std::free), HS_SUCCESS);
    int failures = 0;
    for (int nth = 0;; ++nth) {
      ASSERT_LT(nth, 100);
      if (!cached) {
        ASSERT_TRUE(remove_tree(cache_->path() / "hs").has_value());
      }
      g_allocations_left = nth;
      const auto matcher = Matcher::create(rules);
      g_allocations_left = -1;
      if (matcher) {
        EXPECT_EQ(matcher->engine(), Engine::hyperscan_and_re2);
        break;
      }
      ++failures;
    }
    EXPECT_GT(failures, 0) << cached;
    hs_set_database_allocator(nullptr, nullptr);
  }
}

TEST_F(MatcherFaults, MiscellaneousMemoryThatCannotBeHadIsAnErrorOrNotNeeded) {
  const RuleSet rules = set_of({"a+b"});
  ASSERT_EQ(hs_set_misc_allocator(limited_allocation, std::free), HS_SUCCESS);
  for (int nth = 0; nth < 20; ++nth) {
    ASSERT_TRUE(remove_tree(cache_->path() / "hs").has_value());
    g_allocations_left = nth;
    // Keeping the database may fail quietly, matching may not.
    const auto matcher = Matcher::create(rules);
    Pattern pattern;
    pattern.regex = "abc";
    RegexFault fault;
    const bool checked = check_pattern(pattern, fault);
    g_allocations_left = -1;
    EXPECT_TRUE(checked || !fault.sentence.empty());
    if (!matcher) continue;
    Matcher::Scratch scratch;
    std::vector<Match> found;
    ASSERT_TRUE(matcher->scan(View::raw, "aab", scratch, found).has_value());
    EXPECT_EQ(found.size(), 1u);
  }
}

}  // namespace
}  // namespace guard
