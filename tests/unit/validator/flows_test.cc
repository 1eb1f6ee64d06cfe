// What is known of a value once it went through names, patterns and properties.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/validator/view_support.h"

namespace guard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_not_handed(const std::vector<const char*>& texts) {
  for (const char* text : texts) EXPECT_THAT(view_entries(View::strings, text), Not(Contains("use|.env"))) << text;
}

void expect_code(const std::vector<const char*>& texts, const char* part) {
  for (const char* text : texts) EXPECT_THAT(code_view(text), HasSubstr(part)) << text;
}

TEST(Flows, GoThroughNamesAndProperties) {
  expect_handed({"const a = '.env'; use(a)", "use(a); const a = '.env'", "const a = '.e'; const b = a + 'nv'; use(b)",
      "const o = { a: '.env' }; use(o.a)", "const o = { a: { b: '.env' } }; use(o.a.b)",
      "const o = { 'a': '.env' }; use(o['a'])", "const o = { ['a']: '.env' }; use(o.a)"});
}

TEST(Flows, KeepNamesApart) {
  expect_not_handed({"const a = '.env'; use(b)", "enum E { A = '.env', B = 'x' } use(E.B)",
      "const o = { a: '.env' }; use(o.b)", "const o = { a: '.env' }; use(p.a)",
      "const o = { a: { b: '.env' } }; use(o.a)", "const a = '.env'; use('a')"});
}

TEST(Flows, GoThroughPatterns) {
  expect_handed(
      {"const o = { a: '.env' }; const { a } = o; use(a)", "const o = { a: '.env' }; const { a: b } = o; use(b)",
          "const o = { a: { b: '.env' } }; const { a: { b } } = o; use(b)",
          "const o = { a: ['.e', 'nv'] }; const { a } = o; use(a.join(''))"});
  expect_not_handed(
      {"const o = { b: '.env' }; const { a } = o; use(a)", "const o = { a: '.env' }; const { a: b } = p; use(b)",
          "const o = { a: '.env', b: 'x' }; const { b } = o; use(b)"});
}

TEST(Flows, ReadTextsInACodingAsWhatTheySay) {
  expect_handed({"use('LmVudg==')", "use('2e656e76')", "use('2E656E76')"});
  expect_not_handed({"use('2e656e7')", "use('password')", "expect('2e656e76')"});
}

TEST(Flows, GoThroughWhatCallsForSomeone) {
  expect_handed({"use.call(null, '.env')", "use.apply(null, ['.env'])", "use.bind(null, '.env')()",
      "Reflect.apply(use, null, ['.env'])", "use(...['.env'])", "use(String.raw`.env`)", "use`.env`"});
}

TEST(Flows, MakeNamesOfTheSurface) {
  expect_code(
      {"const p = process; p.exit(3)", "let q; q = process; q.exit(3)", "const { exit } = process; exit(3)",
          "const { exit: e } = process; e(3)", "const { a = 1, exit: e } = process; e(3)",
          "const { ['exit']: e } = process; e(3)", "const { process: { exit: e } } = globalThis; e(3)",
          "import { exit as e } from 'node:process'; e(3)", "const { default: p } = await import('process'); p.exit(3)",
          "import('process').then(({ exit }) => exit(3))", "import('process').then((p) => p.exit(3))",
          "const { ...p } = process; p.exit(3)"},
      "process.exit(3)");
  expect_code({"const f = require('fs'); f.rmSync(x)", "const { rmSync: r } = require('fs'); r(x)",
                  "import * as f from 'fs'; f.rmSync(x)", "import f from 'fs'; f.rmSync(x)"},
      "fs.rmSync(x)");
}

TEST(Flows, LeaveNamesOfOthersAlone) {
  for (const char* text :
      {"const p = mine; p.exit(3)", "const { exit } = mine; exit(3)", "import { exit as e } from './process'; e(3)",
          "const { exit: e } = mine.process; e(3)", "import('./process').then((p) => p.exit(3))"}) {
    EXPECT_THAT(code_view(text), Not(HasSubstr("process.exit(3)"))) << text;
  }
}

// --- code in strings -----------------------------------------------------------------------------------------------

TEST(Flows, ReadTextsThatRunAsCode) {
  expect_code(
      {"eval('JSON.stringify(process.env)')", "eval('JSON.str' + 'ingify(process.env)')",
          "new Function('JSON.stringify(process[\"env\"])')()", "const t = 'JSON.stringify(process.env)'; (0, eval)(t)",
          "import('data:text/javascript,JSON.stringify(process.env)')", "setTimeout('JSON.stringify(process.env)', 1)",
          "execSync('bun -e \"JSON.stringify(process.env)\"')"},
      "JSON.stringify(process.env)");
}

TEST(Flows, DoNotReadTextsThatAreOnlyTold) {
  for (const char* text : {"it('JSON.stringify(process.env)', f)", "expect(x).toBe('JSON.stringify(process.env)')",
           "const t = 'JSON.stringify(process.env)'; expect(t).toMatch(/x/)",
           "// eval('JSON.stringify(process.env)')\n"}) {
    EXPECT_THAT(code_view(text), Not(HasSubstr("JSON.stringify(process.env)"))) << text;
  }
}

}  // namespace
// Code in a text that was put together is read as it was put together, whatever became of the memory since.
TEST(Flows, KeepTheTextsThatAreReadAsCode) {
  const std::string code = code_view("const f = new Function('scope', 'expr', 'with (scope) { return eval(expr) }');");
  EXPECT_THAT(code, HasSubstr(";scope expr with(scope){return eval(expr)}"));
}

}  // namespace guard
