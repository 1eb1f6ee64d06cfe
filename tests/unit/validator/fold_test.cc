// Texts that are made of constants by JSON, patterns, addresses, symbols, getters and tags.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/check_support.h"
#include "tests/support/view_support.h"
#include "validator/values/fold_coding.h"
#include "validator/values/fold_pattern.h"

namespace guard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Fold, ReadsJson) {
  expect_handed({R"(use(JSON.parse('{"a":{"b":["\\u002eenv"]}}').a.b[0]))",
      R"(const [k] = Object.keys(JSON.parse('{".env":1}')); use(k))", R"(use(JSON.parse('".env"')))",
      R"(const { a } = JSON.parse('{"x":[true,null,1.5],"a":".env"}'); use(a))"});
  for (const char* text : {R"(use(JSON.parse('{"a":".env"').a))", R"(use(JSON.parse('[".env"] x')[0]))"}) {
    EXPECT_THAT(view_entries(View::strings, text), Not(Contains("use|.env"))) << text;
  }
}

TEST(Fold, RunsPatterns) {
  expect_handed(
      {"use('_3nv'.replace(/_/g, '.').replace(/\\d/, 'e'))", "use('.Env'.replace(/[A-Z]/g, (c) => c.toLowerCase()))",
          "use('a-.env-b'.split(/-/)[1])", "use('x=.env'.match(/x=(.*)/)[1])", "use(/x=(.*)/.exec('x=.env')[1])",
          "use('nve.'.replace(/(nv)(e)(.)/, '$3$2$1'))", "use('#env'.replace('#', () => '.'))"});
}

TEST(Fold, GivesPatternsUpThatItCanNotRun) {
  EXPECT_FALSE(find_pattern("/(?=a)a/", "a", false).known);
  EXPECT_FALSE(find_pattern("/(a)\\1/", "aa", false).known);
  EXPECT_FALSE(find_pattern("/((a{9}){9}){9}/", "a", false).known);
  EXPECT_FALSE(find_pattern("/a(.*z)?/g", std::string(kTextMax, 'a'), true).known);
  EXPECT_TRUE(find_pattern("/a|/g", "banana", true).known);
}

TEST(Fold, TakesAddressesApart) {
  expect_handed({"use(new URL('http://x/?k=.env').searchParams.get('k'))",
      "const { hash } = new URL('http://x/#.env'); use(hash.slice(1))",
      "use('.' + new URL('https://u:p@env:80/').hostname)"});
}

TEST(Fold, KnowsSymbolsGettersAndTags) {
  expect_handed({"use(Symbol('.env').description)", "const o = { get a() { return '.env'; } }; use(o.a)",
      "const t = (s, ...v) => [s[0], v[0]].join(''); use(t`.e${'nv'}`)",
      "const t = (s, ...v) => String.raw(s, ...v); use(t`.${'e'}nv`)",
      "use(Array.from({ length: 1 }, (_, i) => ['.env'][i])[0])", "use(['nv', '.e'].sort().join(''))",
      "use(require('path').extname('a.env'))", "use(atob(btoa('.env')))"});
  EXPECT_EQ(encode_base64("a"), "YQ==");
  EXPECT_EQ(encode_base64("abcd"), "YWJjZA==");
  EXPECT_EQ(encode_hex("\xff\x01"), "ff01");
}

TEST(Fold, SkipsTypesOfFunctionsInCasts) {
  EXPECT_THAT(code_view("const F = p.constructor as new (...s: string[]) => (...a: any[]) => Gen<number>; new F('x')"),
      HasSubstr("new%.constructor(\"\")"));
}

TEST(Fold, LeavesAProcessOfAnOwnObjectAlone) {
  const std::string own = "class Job {} const order = { process: new Job() }; order.process.exit('x');";
  EXPECT_FALSE(finds("host.process_exit", own));
  EXPECT_TRUE(finds("host.process_exit", own + " order.process = other; "));
  EXPECT_TRUE(finds("host.process_exit", own + " fill(order);"));
  EXPECT_TRUE(finds("host.process_exit", "const order = { process: new Job() }; order.process.exit('x');"));
  EXPECT_TRUE(finds(
      "host.process_exit", "class Job {} const order = { process: new Job() || g.process }; order.process.exit('x');"));
}

}  // namespace
}  // namespace guard
