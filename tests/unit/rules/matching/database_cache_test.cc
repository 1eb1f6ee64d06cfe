#include "rules/matching/database_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "common/file_io.h"
#include "rules/matching/matcher.h"
#include "tests/support/scoped_env.h"
#include "tests/support/validator/rule_texts.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

class DatabaseCache : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempDir::create();
    ASSERT_TRUE(folder.has_value());
    cache_.emplace(std::move(*folder));
    env_.emplace("GUARD_CACHE_DIR", cache_->path().string());
  }

  fs::path kept() const { return cache_->path() / "hs" / database_cache_key(rules_.digest(), "raw"); }

  void expect_matches() const {
    const auto matcher = Matcher::create(rules_);
    ASSERT_TRUE(matcher.has_value()) << matcher.error().to_string();
    Matcher::Scratch scratch;
    std::vector<Match> found;
    ASSERT_TRUE(matcher->scan(View::raw, "xxaab", scratch, found).has_value());
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].begin, 2u);
  }

  std::string bytes() const { return read_file(kept(), 1u << 26).value(); }

  RuleSet rules_ = set_of({"a+b"});
  std::optional<TempDir> cache_;
  std::optional<testing::ScopedEnv> env_;
};

TEST_F(DatabaseCache, KeepsWhatWasCompiled) {
  expect_matches();
  EXPECT_TRUE(fs::is_regular_file(kept()));
  struct stat status {};
  ASSERT_EQ(::stat(kept().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 077u, 0u);
  expect_matches();
}

// Shown by what can't be there otherwise: the database of other rules under the name of ours, with a fitting hash.
TEST_F(DatabaseCache, IsReadAgain) {
  expect_matches();
  const RuleSet other = set_of({"b"});
  ASSERT_TRUE(Matcher::create(other).has_value());
  fs::copy_file(
      cache_->path() / "hs" / database_cache_key(other.digest(), "raw"), kept(), fs::copy_options::overwrite_existing);
  const auto matcher = Matcher::create(rules_);
  ASSERT_TRUE(matcher.has_value());
  Matcher::Scratch scratch;
  std::vector<Match> found;
  // Hyperscan reports an end that RE2, with our own pattern, can't explain: kept, and marked.
  ASSERT_TRUE(matcher->scan(View::raw, "xb", scratch, found).has_value());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].confirmed);
  EXPECT_EQ(found[0].end, 2u);
}

TEST_F(DatabaseCache, DamageAnywhereMeansCompilingAgain) {
  expect_matches();
  const std::string good = bytes();
  std::vector<std::string> damaged = {"", "x", good.substr(0, good.size() - 1), good + "x", good.substr(0, 40)};
  for (const std::size_t at :
      {std::size_t{0}, std::size_t{30}, good.find('\n'), good.find('\n') + 1, good.size() / 2, good.size() - 1}) {
    damaged.push_back(good);
    damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 1);
  }
  for (const std::string& bad : damaged) {
    ASSERT_TRUE(write_file_atomically(kept(), bad, 0600).has_value());
    EXPECT_FALSE(load_cached_database(kept().filename().string()).has_value());
    expect_matches();
    EXPECT_EQ(bytes(), good);
  }
}

TEST_F(DatabaseCache, IgnoresFilesThatOthersCouldHaveWritten) {
  expect_matches();
  const std::string key = kept().filename().string();
  ASSERT_TRUE(load_cached_database(key).has_value());
  ASSERT_EQ(::chmod(kept().c_str(), 0666), 0);
  EXPECT_FALSE(load_cached_database(key).has_value());
  ASSERT_EQ(::chmod(kept().c_str(), 0600), 0);
  ASSERT_TRUE(load_cached_database(key).has_value());
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(kept().c_str(), 1000, 1000), 0);
    EXPECT_FALSE(load_cached_database(key).has_value());
  }
}

TEST_F(DatabaseCache, IgnoresLinksAndFifos) {
  expect_matches();
  const std::string key = kept().filename().string();
  fs::rename(kept(), cache_->path() / "elsewhere");
  fs::create_symlink(cache_->path() / "elsewhere", kept());
  EXPECT_FALSE(load_cached_database(key).has_value());
  fs::remove(kept());
  ASSERT_EQ(::mkfifo(kept().c_str(), 0600), 0);
  EXPECT_FALSE(load_cached_database(key).has_value());
  expect_matches();
}

TEST_F(DatabaseCache, NotBeingWritableIsNoError) {
  const testing::ScopedEnv nowhere("GUARD_CACHE_DIR", "/proc/self/nothing");
  expect_matches();
}

TEST_F(DatabaseCache, KeyDependsOnRulesAndView) {
  EXPECT_NE(database_cache_key("a", "raw"), database_cache_key("b", "raw"));
  EXPECT_NE(database_cache_key("a", "raw"), database_cache_key("a", "code"));
}

}  // namespace
}  // namespace guard
