#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/validator/view_support.h"

namespace guard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> uses(std::string_view text) { return view_entries(View::uses, text); }

struct Case {
  const char* text;
  const char* use;  // the only one
};

void expect_each(const std::vector<Case>& cases) {
  for (const Case& one : cases) EXPECT_THAT(uses(one.text), ElementsAre(one.use)) << one.text;
}

void expect_none(const std::vector<const char*>& texts) {
  for (const char* text : texts) EXPECT_THAT(uses(text), IsEmpty()) << text;
}

// --- members -------------------------------------------------------------------------------------------------------

TEST(UsesView, TellsMembersThatNoListHas) {
  expect_each(
      {{"process.strange", "unlisted|process.strange|"}, {"process['stra' + 'nge']()", "unlisted|process.strange|"},
          {"globalThis.process.strange", "unlisted|process.strange|"},
          {"const p = process; p.strange", "unlisted|process.strange|"},
          {"const { strange } = process", "unlisted|process.strange|"}, {"Bun.strange", "unlisted|Bun.strange|"},
          {"import { strange } from 'bun'", "unlisted|Bun.strange|"},
          {"import.meta.strange", "unlisted|import.meta.strange|"},
          {"import 'node:strange'", "unlisted|module node:strange|"},
          {"await import('bun:strange')", "unlisted|module bun:strange|"}});
}

TEST(UsesView, TellsMembersByWhatStandsBehindThem) {
  expect_each({{"process.report.getReport()", "always|process.report|"},
      {"process.execve('/bin/sh')", "host|process.execve|"}, {"Bun.plugin({})", "host|Bun.plugin|"},
      {"module._load('x')", "host|module._load|"}, {"import 'bun:jsc'", "host|module bun:jsc|"},
      {"Bun.secrets.get(x)", "docker|Bun.secrets|"}, {"import x from './x' with { type: 'macro' }", "host|macro|"}});
}

TEST(UsesView, IsSilentAboutWhatIsFreeNamedOrForeign) {
  expect_none({"process.cwd()", "process.exit(1)", "process.env.HOME", "Bun.sleep(1)", "import.meta.url",
      "import 'node:fs'", "import 'strange'", "import './node:strange'", "module.mine", "mine.process.strange",
      "const { cwd, platform } = process", "'process.strange'", "// process.strange\n",
      "import x from './x' with { type: 'json' }", "o.Bun.strange"});
}

// --- values --------------------------------------------------------------------------------------------------------

TEST(UsesView, TellsWhereARootLeavesTheNamesThatCanBeFollowed) {
  expect_each({{"use(process)", "value|process|(use"}, {"use(1, process)", "value|process|(use"},
      {"a.b.use(process, 1)", "value|process|(a.b.use"}, {"use(...process)", "value|process|."},
      {"use([process])", "value|process|["}, {"use({ process })", "value|process|{"},
      {"use({ a: process })", "value|process|:"}, {"use({ ...process })", "value|process|."},
      {"use(() => process)", "value|process|>"}, {"x = process", "value|process|="},
      {"x = y ?? process", "value|process||"}, {"x = process as any;", "value|process|="},
      {"function f() { return process; }", "value|process|r"}, {"export default process", "value|process|x"},
      {"export const q = process", "value|process|="}, {"class A { p = process; }", "value|process|="},
      {"class A { static #p = process; }", "value|process|="}, {"const { ...rest } = process", "value|process|."},
      {"const { [key]: x } = process", "value|process|["}, {"Object.keys(process)", "value|process|(Object.keys"},
      {"use(globalThis)", "value|globalThis|(use"}, {"use(Bun)", "value|Bun|(use"},
      {"use(import.meta)", "value|import.meta|(use"},
      {"import * as cp from 'child_process'; use(cp)", "value|child_process|(use"}});
}

TEST(UsesView, TellsFunctionsThatRulesWatchAsValues) {
  expect_each({{"use(eval)", "value|eval|(use"}, {"use(process.exit)", "value|process.exit|(use"},
      {"use(process.env)", "value|process.env|(use"},
      {"import { rmSync } from 'fs'; use(rmSync)", "value|fs.rmSync|(use"}, {"use(require)", "value|require|(use"}});
}

TEST(UsesView, DoesNotTellWhatIsLookedAtOnly) {
  expect_none({"process", "typeof process", "process === x", "'exit' in process", "if (process) {}",
      "switch (process) {}", "type T = typeof process", "let x: typeof process", "`${process}`", "process = 1"});
}

TEST(UsesView, DoesNotTellMocksAndExpectations) {
  expect_none({"vi.spyOn(process, 'exit')", "spyOn(process, 'cwd')", "expect(process).toBeDefined()",
      "vi.stubGlobal('process', {})", "process.exit = mock", "globalThis.fetch = mock",
      "const kept = process.exit; process.exit = kept", "Object.defineProperty(process, 'platform', { value: 'x' })",
      "Object.assign(globalThis, { a: 1 })"});
}

// A failing comparison prints what it compares, and instanceof hands its left side to a method of the right one.
TEST(UsesView, TellsWhatComparisonsSee) {
  expect_each({{"expect(process).toEqual(x)", "value|process|(expect"},
      {"expect(x).toBe(process)", "value|process|(expect(x).toBe"}, {"process instanceof X", "value|process|i"}});
}

// The same calls about the member that matters.
TEST(UsesView, TellsReflectionOnTheEnvironment) {
  expect_each({{"Reflect.get(process, 'en' + x)", "value|process|(Reflect.get"},
      {"Object.getOwnPropertyDescriptor(process, 'env')", "value|process|(Object.getOwnPropertyDescriptor env"},
      {"Object.getOwnPropertyDescriptors(process)", "value|process|(Object.getOwnPropertyDescriptors"},
      {"Object.assign(process, x)", "value|process|(Object.assign"},
      {"Object.assign({}, process)", "value|process|(Object.assign"}});
}

// However long the text before it is: the view grows while it is read, and what was seen of it must not move along.
TEST(UsesView, TellsWhatInheritsFromARootAtEveryPlace) {
  std::string before;
  for (int i = 0; i < 300; ++i) {
    EXPECT_THAT(uses(before + "f(Object.create(process).env)"), Contains("value|process.env|=")) << i;
    before += "a;";
  }
}

// A name is followed to one thing; in another scope it may be another.
TEST(UsesView, TellsWhatElseANameStandsFor) {
  EXPECT_THAT(uses("{ const a = fs; } const a = process; use(a.env)"), Contains("value|process|="));
  EXPECT_THAT(
      uses("{ const { a } = mine; } const a = eval; const { exit: a } = process"), Contains("value|process.exit|="));
}

TEST(UsesView, FollowsNamesInsteadOfTellingThem) {
  expect_none(
      {"const p = process; p.cwd()", "let e = eval", "const x = fs.rmSync", "const { exit } = process; exit()"});
}

// --- names that hide globals ---------------------------------------------------------------------------------------

TEST(UsesView, KnowsNamesThatHideAGlobal) {
  expect_none({"function f(process) { return process; }", "((process) => process)(1)", "process => use(process)",
      "{ const process = fake; use(process); }", "function f() { const process = {}; return process; }",
      "import { process as p } from './mine'; use(p)", "function f(process: Mine) { process.strange; }"});
}

TEST(UsesView, DoesNotBelieveANameBeyondItsScope) {
  EXPECT_THAT(uses("{ const process = fake; } use(process)"), Contains("value|process|(use"));
  EXPECT_THAT(uses("function f(process) {} use(process)"), Contains("value|process|(use"));
  EXPECT_THAT(uses("use(process); { const process = fake; }"), Contains("value|process|(use"));
  EXPECT_THAT(uses("declare const process: any; use(process)"), Contains("value|process|(use"));
  // The default is the global itself.
  EXPECT_THAT(uses("function f(process = globalThis.process) { return process; }"), Contains("value|process|r"));
}

TEST(UsesView, CannotBeForgedByATextOfTheFile) {
  EXPECT_THAT(uses("use('\\x1evalue\\x1dprocess\\x1d(use\\x1f')"), IsEmpty());
  EXPECT_THAT(
      uses("Reflect.get(process, '\\x1f\\x1ex')"), Contains(::testing::StartsWith("value|process|(Reflect.get")));
}

}  // namespace
}  // namespace guard
