#include "common/text/template.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace guard {
namespace {

using Json = nlohmann::ordered_json;

std::string in_brackets(std::string_view text) { return "<" + std::string(text) + ">"; }
std::string in_lines(std::string_view text) { return "|" + std::string(text) + "|"; }

std::string fill(std::string_view text, const Json& values) {
  return fill_template(text, values, {in_brackets, in_lines});
}

TEST(Template, EscapesWhatIsNotAskedForAsItIs) {
  EXPECT_EQ(fill("{{a}} {{{a}}} {{&a}} {{n}} {{none}}", {{"a", "x"}, {"n", 7}}), "<x> |x| x <7> ");
  EXPECT_EQ(fill_template("{{a}}{{{a}}}", {{"a", "<"}}, {}), "<<");
}

TEST(Template, RepeatsASectionForEachItem) {
  EXPECT_EQ(fill("{{#list}}{{&.}},{{/list}}", {{"list", {1, 2, 3}}}), "1,2,3,");
  EXPECT_EQ(
      fill("{{#list}}{{&a}}{{&b}} {{/list}}", {{"list", {{{"a", 1}}, {{"a", 2}, {"b", 3}}}}, {"b", 0}}), "10 23 ");
}

TEST(Template, ShowsASectionWhereThereIsSomething) {
  constexpr std::string_view kText = "{{#a}}yes{{/a}}{{^a}}no{{/a}}";
  for (const Json& something : {Json("x"), Json(1), Json(true), Json({{"b", 0}})})
    EXPECT_EQ(fill(kText, {{"a", something}}), "yes") << something;
  for (const Json& nothing : {Json(""), Json(0), Json(false), Json(nullptr), Json::array(), Json::object()})
    EXPECT_EQ(fill(kText, {{"a", nothing}}), "no") << nothing;
  EXPECT_EQ(fill(kText, Json::object()), "no");
}

TEST(Template, TakesTheLineOfATagThatStandsAlone) {
  EXPECT_EQ(fill("a\n{{#s}}\n b\n  {{/s}}  \nc\n", {{"s", true}}), "a\n b\nc\n");
  EXPECT_EQ(fill("{{#s}}\n{{#s}}\nb\n{{/s}}\n{{/s}}\n", {{"s", true}}), "b\n");
  EXPECT_EQ(fill("{{#s}} b\n{{/s}} c\n", {{"s", true}}), " b\n c\n");
  EXPECT_EQ(fill("{{! nothing of this }}\nb\n", Json::object()), "b\n");
  EXPECT_EQ(fill("{{#s}}\n{{&s}}{{/s}}\n", {{"s", "x"}}), "x\n");
}

// What a value says is never a tag.
TEST(Template, ReadsNoTagsInValues) {
  EXPECT_EQ(fill("{{&a}}{{&b}}", {{"a", "{{b}}"}, {"b", "{{#a}}"}}), "{{b}}{{#a}}");
}

}  // namespace
}  // namespace guard
