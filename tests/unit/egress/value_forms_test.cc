#include "egress/keys/value_forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/text/base64.h"
#include "egress/keys/value_mask.h"

namespace guard {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ValueForms, AreThoseThatServersWrite) {
  const auto forms = forms_of_key("Bearer ", "ab/cd+efgh\"x");
  for (const char* form : {"ab/cd+efgh\"x", "ab\\/cd+efgh\\\"x", "ab/cd+efgh\\\"x", "ab%2Fcd%2Befgh%22x",
           "ab%2fcd%2befgh%22x", "ab/cd\\u002Befgh\\u0022x", "ab/cd\\u002befgh\\u0022x",
           "ab\\u002fcd\\u002befgh\\u0022x", "61622f63642b656667682278", "61622F63642B656667682278"})
    EXPECT_THAT(forms, Contains(form));
  EXPECT_THAT(forms, AllOf(Not(Contains("Bearer")), Not(Contains("Bearer ab/cd+efgh\"x"))));
}

TEST(ValueForms, AreFoundWhereverBase64Begins) {
  const std::string key = "sk_live?>4f9a77b0c1d2";
  const HiddenValues hidden(forms_of_key("Bearer ", key));
  for (const char* before : {"", "x", "xy", "Authorization: Bearer "}) {
    for (const char* after : {"", "x", "xy", "\r\n"}) {
      for (const auto encode : {base64_encode, base64url_encode}) {
        const std::string masked = masked_text(encode(before + key + after), hidden);
        const auto shown = base64_decode_loosely(masked.substr(0, masked.find('*'))).value_or("");
        EXPECT_THAT(masked, HasSubstr(std::string(26, '*'))) << before << after;
        EXPECT_LE(shown.size(), std::string_view(before).size() + 1) << masked;
      }
    }
  }
}

TEST(ValueForms, AreOfPartsAndOfWhatBasicSays) {
  const auto forms = forms_of_key("basic ", base64_encode("someone:pass-word_1234567"));
  EXPECT_THAT(forms,
      AllOf(Contains("pass-word_1234567"), Contains("someone:pass-word_1234567"),
          Contains("c29tZW9uZTpwYXNzLXdvcmRfMTIzNDU2Nw==")));
  EXPECT_THAT(
      forms_of_key("", "sk-project.Ab1z5678cd90QrSt"), AllOf(Contains("Ab1z5678cd90QrSt"), Not(Contains("project"))));
  // All 8 digits in a row are a file of gigabytes, and its stars would say which these are.
  EXPECT_THAT(forms_of_key("", "sk-4f9a77b0.c1d25e6f-telephone"),
      AllOf(Not(Contains("4f9a77b0")), Not(Contains("c1d25e6f")), Not(Contains("telephone"))));
  // A server that has taken the prefix off repeats the value alone.
  EXPECT_THAT(forms_of_key("key=", "1a2b-3c4d-5e6f"), Contains("1a2b-3c4d-5e6f"));
  EXPECT_THAT(forms_of_key("", "ab/cd+efgh"),
      AllOf(Contains("ab/cd&#43;efgh"), Contains("ab&#x2F;cd&#x2B;efgh"), Contains("AB/CD+EFGH")));
  EXPECT_THAT(forms_of_key("", "ab cd ef gh"), Contains("ab cd ef gh"));
  for (const std::string& form : forms_of_key("", "12345678")) EXPECT_GE(form.size(), 8u);
}

}  // namespace
}  // namespace guard
