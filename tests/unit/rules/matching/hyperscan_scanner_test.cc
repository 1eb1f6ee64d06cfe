#include "rules/matching/hyperscan_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

extern "C" std::uint32_t guard_hyperscan_checksum(std::uint32_t start, const void* bytes, std::size_t size);

namespace guard {
namespace {

using ::testing::ElementsAre;

class Collected final : public HyperscanScanner::Ends {
 public:
  bool end(std::uint32_t id, std::size_t offset) noexcept override {
    ends.emplace_back(id, offset);
    return go_on;
  }
  std::vector<std::pair<std::uint32_t, std::size_t>> ends;
  bool go_on = true;
};

HyperscanScanner compiled(HyperscanScanner::Target target = HyperscanScanner::Target::this_machine) {
  const std::vector<HyperscanScanner::Source> sources = {{7, "ab"}, {9, "c+"}};
  auto database = HyperscanScanner::compile(sources, target);
  EXPECT_TRUE(database.has_value()) << database.error().to_string();
  return std::move(*database);
}

std::vector<std::pair<std::uint32_t, std::size_t>> ends(const HyperscanScanner& database, std::string_view text) {
  HyperscanScanner::Scratch scratch;
  Collected collected;
  const auto scanned = database.scan(text, scratch, collected);
  EXPECT_TRUE(scanned.has_value()) << scanned.error().to_string();
  return collected.ends;
}

using Pair = std::pair<std::uint32_t, std::size_t>;

TEST(HyperscanScanner, ReportsEveryEnd) {
  EXPECT_THAT(ends(compiled(), "abccab"), ElementsAre(Pair{7, 2}, Pair{9, 3}, Pair{9, 4}, Pair{7, 6}));
}

TEST(HyperscanScanner, ScanFailsWhenStopped) {
  const HyperscanScanner database = compiled();
  HyperscanScanner::Scratch scratch;
  Collected collected;
  collected.go_on = false;
  EXPECT_FALSE(database.scan("abab", scratch, collected).has_value());
  EXPECT_EQ(collected.ends.size(), 1u);
}

TEST(HyperscanScanner, SerializedDatabaseIsTheSame) {
  const auto bytes = compiled().serialize();
  ASSERT_TRUE(bytes.has_value());
  const auto again = HyperscanScanner::deserialize(*bytes);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(ends(*again, "abcc"), ends(compiled(), "abcc"));
}

TEST(HyperscanScanner, RefusesDamagedSerializedDatabases) {
  std::string bytes = compiled().serialize().value();
  EXPECT_FALSE(HyperscanScanner::deserialize(bytes.substr(0, bytes.size() / 2)).has_value());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  EXPECT_FALSE(HyperscanScanner::deserialize(bytes).has_value());
  EXPECT_FALSE(HyperscanScanner::deserialize("").has_value());
}

// An image works at every address that is a multiple of 64, and nowhere else.
TEST(HyperscanScanner, ImageWorksWhereverItIsAligned) {
  const auto image = compiled(HyperscanScanner::Target::any_machine).image();
  ASSERT_TRUE(image.has_value());
  char* memory = static_cast<char*>(std::aligned_alloc(4096, (image->size() / 4096 + 3) * 4096));
  ASSERT_NE(memory, nullptr);
  for (const std::size_t shift : {0u, 64u, 128u, 192u, 4096u - 64u}) {
    std::memcpy(memory + shift, image->data(), image->size());
    const auto database =
        HyperscanScanner::from_image({memory + shift, image->size()}, HyperscanScanner::library_version());
    ASSERT_TRUE(database.has_value()) << shift;
    EXPECT_EQ(ends(*database, "abcc"), ends(compiled(), "abcc")) << shift;
  }
  std::memcpy(memory + 8, image->data(), image->size());
  EXPECT_FALSE(
      HyperscanScanner::from_image({memory + 8, image->size()}, HyperscanScanner::library_version()).has_value());
  std::free(memory);
}

TEST(HyperscanScanner, RefusesImagesThatDoNotFit) {
  const std::string image = compiled(HyperscanScanner::Target::any_machine).image().value();
  char* memory = static_cast<char*>(std::aligned_alloc(64, image.size()));
  ASSERT_NE(memory, nullptr);
  std::memcpy(memory, image.data(), image.size());
  const std::string_view whole(memory, image.size());
  EXPECT_FALSE(HyperscanScanner::from_image(whole, "5.3.0 2019-01-01").has_value());
  EXPECT_FALSE(HyperscanScanner::from_image(whole.substr(0, 64), HyperscanScanner::library_version()).has_value());
  EXPECT_FALSE(HyperscanScanner::from_image(whole.substr(0, 0), HyperscanScanner::library_version()).has_value());
  memory[0] = static_cast<char>(memory[0] ^ 1);
  EXPECT_FALSE(HyperscanScanner::from_image(whole, HyperscanScanner::library_version()).has_value());
  std::free(memory);
}

// Hyperscan asks for the checksum of a database before its first scan.
TEST(HyperscanScanner, ScansWithNoDamagedImage) {
  const std::string image = compiled(HyperscanScanner::Target::any_machine).image().value();
  const std::unique_ptr<char, decltype(&std::free)> memory(
      static_cast<char*>(std::aligned_alloc(64, image.size())), &std::free);
  ASSERT_NE(memory, nullptr);
  constexpr std::size_t kHeadBytes = 64;
  std::uint32_t size = 0;
  std::memcpy(&size, image.data() + 8, sizeof size);
  ASSERT_LE(kHeadBytes + size, image.size());
  for (std::size_t at = kHeadBytes; at < kHeadBytes + size; ++at) {
    std::memcpy(memory.get(), image.data(), image.size());
    memory.get()[at] = static_cast<char>(memory.get()[at] ^ 0x10);
    const auto database =
        HyperscanScanner::from_image({memory.get(), image.size()}, HyperscanScanner::library_version());
    ASSERT_TRUE(database.has_value());
    HyperscanScanner::Scratch scratch;
    Collected collected;
    ASSERT_FALSE(database->scan("abcc", scratch, collected).has_value()) << at;
  }
}

#if defined(__x86_64__)
// The examples of RFC 3720, B.4.
TEST(HyperscanScanner, ChecksumIsCrc32c) {
  const auto sum = [](std::string_view text) { return ~guard_hyperscan_checksum(~0u, text.data(), text.size()); };
  std::string rising;
  while (rising.size() < 32) rising += static_cast<char>(rising.size());
  EXPECT_EQ(sum(rising), 0x46dd794eu);
  EXPECT_EQ(sum(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(sum(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(sum("123456789"), 0xe3069283u);
  EXPECT_EQ(sum(""), 0u);
}
#endif

TEST(HyperscanScanner, SaysWhyAPatternIsRefused) {
  const auto widths = HyperscanScanner::widths("a(?=b)");
  ASSERT_FALSE(widths.has_value());
  EXPECT_EQ(widths.error().code(), ErrorCode::rules_invalid);
  EXPECT_THAT(widths.error().message(), ::testing::HasSubstr("Hyperscan refuses the regex: "));
}

}  // namespace
}  // namespace guard
