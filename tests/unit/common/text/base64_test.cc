#include "common/text/base64.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

TEST(Base64, EncodesAsTheStandardShows) {
  EXPECT_EQ(base64url_encode(""), "");
  EXPECT_EQ(base64url_encode("f"), "Zg==");
  EXPECT_EQ(base64url_encode("fo"), "Zm8=");
  EXPECT_EQ(base64url_encode("foo"), "Zm9v");
  EXPECT_EQ(base64url_encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64url_encode("\xfb\xff\xfe"), "-__-");
}

TEST(Base64, DecodesWithAndWithoutPadding) {
  for (const char* text : {"Zm9vYg==", "Zm9vYg"}) EXPECT_EQ(base64_decode(text), "foob") << text;
  EXPECT_EQ(base64_decode("+//+"), "\xfb\xff\xfe");
  EXPECT_EQ(base64_decode(""), "");
}

TEST(Base64, ReadsLooselyWhatRuntimesRead) {
  for (const char* text : {"Zm9vYg==", "Zm9vYg", "Zm9v\nYg", "Zm=9v Yg", "Zm9vY g="})
    EXPECT_EQ(base64_decode_loosely(text), "foob") << text;
  EXPECT_EQ(base64_decode_loosely("-_/+"), "\xfb\xff\xfe");
  EXPECT_FALSE(base64_decode_loosely("Zm.v"));
}

TEST(Base64, RefusesEverythingElse) {
  for (const char* text : {"Z", "Zm9vY", "Zm9v\n", "-__-", "Zg=", "Zg===", "Z===", "=Zg=", "Zm=v"}) {
    EXPECT_FALSE(base64_decode(text)) << text;
  }
}

}  // namespace
}  // namespace guard
