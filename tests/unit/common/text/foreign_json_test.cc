#include "common/text/foreign_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace guard {
namespace {

std::string nested(std::size_t depth, std::string_view open, std::string_view close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += "1";
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(ForeignJson, DepthIsAnErrorBeforeAnythingIsBuilt) {
  for (const std::size_t depth : {kJsonDepthMax + 1, std::size_t{100'000}, std::size_t{5'000'000}}) {
    for (const auto& [open, close] :
        {std::pair("[", "]"), std::pair("{\"a\":", "}"), std::pair("[\"]\\\"\",", "]"), std::pair("[", "")}) {
      const auto parsed = parse_json(nested(depth, open, close));
      ASSERT_FALSE(parsed) << depth << " " << open;
      EXPECT_EQ(parsed.error().message(), "is nested more than 64 levels deep");
    }
  }
  const auto parsed = parse_json(nested(kJsonDepthMax, "[", "]"));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->dump().size(), 2 * kJsonDepthMax + 1);
  EXPECT_TRUE(parse_json("[\"" + std::string(1'000, '[') + "\"]")) << "brackets in a text are no levels";
}

TEST(ForeignJson, IsOneDocumentAndNothingBesideIt) {
  for (const std::string& text :
      {std::string(), std::string("{"), std::string("{} {}"), std::string("]"), std::string("{}\0[", 4)}) {
    const auto parsed = parse_json(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), ErrorCode::input_invalid);
  }
}

TEST(ForeignJson, AKeyThatComesTwiceIsRefusedWhereItIsAskedFor) {
  const std::string text = R"({"a": [{"b": 1, "\u0062": 2}]})";
  EXPECT_TRUE(parse_json(text));
  const auto parsed = parse_json(text, RepeatedKeys::refused);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message(), "has the key \"b\" twice in one object");
  EXPECT_TRUE(parse_json(R"([{"b": 1}, {"b": 2}])", RepeatedKeys::refused));
  EXPECT_FALSE(parse_json(R"({"": 1, "": 2})", RepeatedKeys::refused));
}

// Before they are in memory.
TEST(ForeignJson, HoldsNoMoreThanItMay) {
  const auto read = [](std::string_view text) { return parse_json(text, RepeatedKeys::refused, {4, 3}); };
  EXPECT_TRUE(read(R"({"a": [1, "2,,,,[[[[", null], "b": {}})"));
  for (const char* text : {R"({"a": [1, "2", null, 4, 5]})", R"({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5})", "[,,,,"}) {
    const auto refused = read(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().message(), "holds more than 4 values");
  }
  for (const char* text : {"[{},{},{}]", "[[[[]]]]", R"({"a": [{}, []], "b": 1})"}) {
    const auto refused = read(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().message(), "holds more than 3 objects and lists");
  }
}

}  // namespace
}  // namespace guard
