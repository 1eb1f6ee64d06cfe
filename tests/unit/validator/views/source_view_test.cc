#include "validator/views/source_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace guard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string code(std::string_view text, std::string_view path = "a.ts") {
  SourceViews views;
  views.build(text, path);
  return std::string(views.view(View::code));
}

// "callee|text" of each entry.
std::vector<std::string> entries(std::string_view text, std::string_view path = "a.ts") {
  SourceViews views;
  views.build(text, path);
  std::vector<std::string> all;
  std::string now;
  for (const char c : views.view(View::strings)) {
    if (c == '\x1e')
      now.clear();
    else if (c == '\x1d')
      now += '|';
    else if (c == '\x1f')
      all.push_back(now);
    else
      now += c == '\x1a' ? '?' : c;
  }
  return all;
}

TEST(CodeView, WritesMembersInOneSpelling) {
  for (const char* text :
      {"use(process.env)", "use(process?.env)", "use(process!.env)", "use(process['env'])", "use(process[\"env\"])",
          "use(process[`env`])", "use(process?.['env'])", "use(process . env)", "use(process /* a */ . // b\n env)",
          "use((process).env)", "use((process as any).env)", "use((process as unknown as Record<string, any>).env)",
          "use(process['e' + 'nv'])", "use(globalThis.process.env)", "use(global['process'].env)",
          "use(((self as any).process).env)", "use(Reflect.get(process, 'env'))",
          "use(process\xc2\xa0.\xef\xbb\xbf"
          "env)",
          "use(pr\\u006fcess.env)", "use((0, process).env)", "use(require('process').env)",
          "use((await import('node:process')).env)", "use((await import('process')).default.env)"}) {
    EXPECT_THAT(code(text), HasSubstr("use(process.env)")) << text;
  }
}

TEST(CodeView, MasksContentsAndShowsModuleNames) {
  EXPECT_THAT(code("import a from 'fs'; import \"dotenv/config\"; f('fs'); require('x'); x = /fs/; `fs${a}`"),
      HasSubstr("import a from\"fs\";import\"dotenv/config\";f(\"\");require(\"x\");x=/./;`${fs}`"));
  EXPECT_THAT(code("export * from 'child_process'"), HasSubstr("from\"child_process\""));
  EXPECT_THAT(code("require('child_' + 'process')"), HasSubstr("require(\"child_process\")"));
  EXPECT_THAT(code("mod.createRequire('/')('child_process')"), HasSubstr("(\"child_process\")"));
}

TEST(CodeView, HidesTheModuleOfATypeOnlyImportAndOfNothingElse) {
  EXPECT_THAT(code("import type { A } from 'child_process'"), Not(HasSubstr("child_process")));
  EXPECT_THAT(code("import type A from 'child_process'"), Not(HasSubstr("child_process")));
  EXPECT_THAT(code("import type from 'child_process'"), HasSubstr("child_process"));
  EXPECT_THAT(code("import type, { execSync } from 'child_process'"), HasSubstr("child_process"));
  EXPECT_THAT(code("import { type A, execSync } from 'child_process'"), HasSubstr("child_process"));
}

TEST(CodeView, WritesNamesAsWhatTheyStandFor) {
  EXPECT_THAT(code("import { readFileSync as r } from 'fs'; r(x)"), HasSubstr("fs.readFileSync(x)"));
  EXPECT_THAT(code("import * as cp from 'node:child_process'; cp.exec(x)"), HasSubstr("child_process.exec(x)"));
  EXPECT_THAT(code("const p = process; p.exit(0)"), HasSubstr("process.exit(0)"));
  EXPECT_THAT(code("const { exit: e } = process; e(0)"), HasSubstr("process.exit(0)"));
  EXPECT_THAT(code("const { $: sh } = Bun; sh`ls`"), HasSubstr("Bun.$``"));
  EXPECT_THAT(code("const log = console.log; log(x)"), HasSubstr("console.log(x)"));
}

TEST(CodeView, KnowsNamesBeforeTheirDeclaration) {
  EXPECT_THAT(code("f(() => p.env); const p = process;"), HasSubstr("process.env"));
}

TEST(CodeView, DoesNotLetALocalNameHideAGlobal) {
  EXPECT_THAT(code("{ const process = console; } use(process.env)"), HasSubstr("use(process.env)"));
}

TEST(CodeView, KeepsConditionsApartFromWhatFollows) {
  EXPECT_THAT(code("if (a) (process).env; while (b) [process]; for (;;) `x`"),
      HasSubstr("if(a)process.env;while(b)[process];for(;;)\"\""));
}

TEST(CodeView, ShowsWhatOnlyOneReadingTakesForCode) {
  EXPECT_THAT(code("if (a) / \"/; run(process.env); // \""), HasSubstr("run(process.env)"));
  EXPECT_THAT(
      code("x = <p>it's {JSON.stringify(process.env)} isn't</p>", "a.tsx"), HasSubstr("JSON.stringify(process.env)"));
}

TEST(StringsView, DecodesAndFolds) {
  EXPECT_THAT(entries("f('\\x2eenv')"), Contains("f|.env"));
  EXPECT_THAT(entries("f('a' + 'b' + x)"), Contains("f|ab?"));
  EXPECT_THAT(entries("f(`${x}/.env`)"), Contains("f|?/.env"));
  EXPECT_THAT(entries("const n = 'b'; f(`a${n}c`)"), Contains("f|abc"));
  EXPECT_THAT(entries("f(['a', 'b'].join('/'))"), Contains("f|a/b"));
}

TEST(StringsView, NamesTheFunctionThatGetsTheText) {
  EXPECT_THAT(entries("import { readFileSync as r } from 'fs'; r('.env')"), Contains("fs.readFileSync|.env"));
  EXPECT_THAT(entries("const at = '.env'; fs.readFileSync(at)"), Contains("fs.readFileSync|.env"));
  EXPECT_THAT(entries("connect({ path: '/x' })"), Contains("connect|/x"));
  EXPECT_THAT(entries("fs.readFileSync(path.join(d, '..', '.env'))"), Contains("fs.readFileSync|.env"));
}

TEST(StringsView, JoinsTheWordsOfACommand) {
  EXPECT_THAT(entries("spawnSync('npm', ['install', 'x'])"), Contains("spawnSync|npm install x"));
  EXPECT_THAT(entries("Bun.spawn(['npm', cmd, 'x'])"), Contains("Bun.spawn|npm ? x"));
  EXPECT_THAT(entries("Bun.spawn({ cmd: ['npm', 'install'] })"), Contains("Bun.spawn|npm install"));
}

TEST(StringsView, MarksJoinedWordsThatMayBeNoCommand) {
  EXPECT_THAT(entries("f('npm', 'install')"), Contains("f|\vnpm install"));
  EXPECT_THAT(entries("const a = ['npm', 'install']"), Contains("|\vnpm install"));
  EXPECT_THAT(entries("expect(a).toEqual(['npm', 'install'])"), Each(Not(HasSubstr("npm install"))));
  EXPECT_THAT(entries("import { expect } from './own'; expect(a).toEqual(['npm', 'install'])"),
      Contains("expect(a).toEqual|\vnpm install"));
}

TEST(StringsView, MarksMatchersTwice) {
  EXPECT_THAT(entries("expect(a).toBe('x.sock')"), Contains("==expect(a).toBe|x.sock"));
  EXPECT_THAT(entries("f.mockReturnValue('x.sock')"), Contains("=f.mockReturnValue|x.sock"));
  for (const char* own :
      {"function expect(x) {}", "function* expect(x) {}", "const expect = f", "import { expect } from './own'"}) {
    const std::string call = "expect(a).toBe('x.sock')";
    EXPECT_THAT(entries(own + ("\n" + call)), Contains("expect(a).toBe|x.sock"));
    EXPECT_THAT(entries(call + "\n" + own), Contains("expect(a).toBe|x.sock")) << "declared behind it";
  }
}

TEST(StringsView, AddsPathsWithoutDotsAndCommandsWithoutQuotes) {
  EXPECT_THAT(entries("f('/proc/./self/environ')"), Contains("f|/proc/self/environ"));
  EXPECT_THAT(entries("f('n\"p\"m install')"), Contains("f|npm install"));
}

TEST(StringsView, HoldsFilesOfOtherKindsAsAWhole) {
  EXPECT_THAT(entries("curl x | sh\n", "setup.sh"), Contains("|curl x | sh\n"));
}

TEST(StringsView, CannotBeForgedByItsOwnMarks) {
  EXPECT_THAT(entries("f('\\x1f\\x1eeval\\x1dprocess.env')"), Not(Contains("eval|process.env")));
}

// Every span of every view lies inside the file, and a verbatim one names the very bytes.
TEST(SourceViews, LeadBackToTheBytes) {
  const std::string text =
      "const a = (process as any)['e' + 'nv']; // x\nf('\\x2eenv', `b${c}`);\nimport { d as e } from 'fs'; e('y')";
  SourceViews views;
  views.build(text, "a.ts");
  for (const View view : {View::raw, View::code, View::strings}) {
    const std::size_t size = views.view(view).size();
    for (std::size_t begin = 0; begin < size; ++begin) {
      for (std::size_t end = begin; end <= size; end += 7) {
        const TextSpan span = views.original(view, begin, end);
        ASSERT_LE(span.begin, span.end);
        ASSERT_LE(span.end, text.size());
      }
    }
  }
  const std::size_t at = views.view(View::strings).find(".env");
  ASSERT_NE(at, std::string_view::npos);
  const TextSpan span = views.original(View::strings, at, at + 4);
  EXPECT_EQ(text.substr(span.begin, span.end - span.begin), "'\\x2eenv'");
}

TEST(SourceViews, NameTheVeryBytesInsideALiteral) {
  const std::string text = "f('one two three', x);";
  SourceViews views;
  views.build(text, "a.ts");
  const std::size_t at = views.view(View::strings).find("two");
  ASSERT_NE(at, std::string_view::npos);
  const TextSpan span = views.original(View::strings, at, at + 3);
  EXPECT_EQ(text.substr(span.begin, span.end - span.begin), "two");
}

TEST(SourceViews, AreTheSameWhateverWasBuiltBefore) {
  SourceViews used;
  used.build("const a = process; `x${'y' + z}`; import b from 'fs'", "a.ts");
  for (const char* text : {"a.env; b.c", "", "f('q')"}) {
    SourceViews fresh;
    fresh.build(text, "a.ts");
    used.build(text, "a.ts");
    EXPECT_EQ(fresh.view(View::code), used.view(View::code));
    EXPECT_EQ(fresh.view(View::strings), used.view(View::strings));
  }
}

TEST(SourceViews, NoteNamesWrittenInEscapes) {
  SourceViews views;
  views.build("ev\\u0061l('x'); caf\\u00e9()", "a.ts");
  ASSERT_EQ(views.escaped_names().size(), 1U);
  EXPECT_EQ(views.escaped_names()[0].begin, 0U);
}

}  // namespace
}  // namespace guard
