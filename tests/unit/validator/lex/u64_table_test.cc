#include "validator/lex/u64_table.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace guard {
namespace {

TEST(U64Table, SaysWhatAMapSays) {
  std::mt19937_64 random(7);
  U64Table table;
  for (int round = 0; round < 5; ++round) {
    table.clear();
    std::unordered_map<std::uint64_t, std::uint32_t> map;
    for (std::uint32_t i = 0; i < 5000; ++i) {
      const std::uint64_t key = random() % 3000 << (random() % 40);
      const auto [place, is_new] = map.try_emplace(key, i);
      const U64Table::Entry entry = table.insert(key, i);
      ASSERT_EQ(entry.fresh, is_new) << key;
      ASSERT_EQ(entry.value, place->second) << key;
    }
  }
}

TEST(U64Table, ForgetsWhatMadeItLarge) {
  U64Table table;
  for (std::uint64_t key = 0; key < 200'000; ++key) ASSERT_TRUE(table.insert(key).fresh);
  table.clear();
  for (std::uint64_t key = 0; key < 200'000; ++key) ASSERT_TRUE(table.insert(key).fresh);
}

}  // namespace
}  // namespace guard
