#include "runner/init_side/frame_tag.h"

#include <gtest/gtest.h>

namespace guard::init_protocol {
namespace {

constexpr unsigned char kKey[kTagKeyBytes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

std::uint64_t tag_of(std::size_t size, std::size_t piece) {
  unsigned char text[64];
  for (std::size_t i = 0; i < sizeof text; ++i) text[i] = static_cast<unsigned char>(i);
  SipHash hash(kKey);
  for (std::size_t at = 0; at < size; at += piece) hash.update(text + at, std::min(piece, size - at));
  return hash.finish();
}

// From the paper's appendix, and the reference vectors for the empty text and for one byte.
TEST(SipHash, GivesThePublishedValues) {
  EXPECT_EQ(tag_of(15, 15), 0xa129ca6149be45e5u);
  EXPECT_EQ(tag_of(0, 1), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(tag_of(1, 1), 0x74f839c593dc67fdu);
}

TEST(SipHash, DoesNotDependOnHowTheTextIsCut) {
  for (std::size_t size = 0; size < 64; ++size) {
    for (std::size_t piece = 1; piece <= 64; ++piece)
      EXPECT_EQ(tag_of(size, piece), tag_of(size, 64)) << size << " " << piece;
  }
}

}  // namespace
}  // namespace guard::init_protocol
