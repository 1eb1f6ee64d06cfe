// Through the rule of two hits: a read whose value goes nowhere is none.
#include "validator/judge/kept_variables.h"

#include <gtest/gtest.h>

#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

// Every file prints something, as honest ones do.
bool refused(const std::string& text) {
  return finds("docker.two_hit", "console.log('started');\n" + text + "\n", kDocker);
}

TEST(KeptVariables, AValueThatIsOnlyPutBackIsNoRead) {
  for (const char* text :
      {
          "const old = process.env.SERVICE_KEY; afterEach(() => { process.env.SERVICE_KEY = old });",
          "const old: string | undefined = process.env.SERVICE_KEY;\nafterEach(() => {\n  if (old === undefined) "
          "delete process.env.SERVICE_KEY;\n  else process.env.SERVICE_KEY = old;\n});",
          "let old: string | undefined;\nbeforeEach(() => { old = process.env['SERVICE_KEY']; });\nafterEach(() => { "
          "if (old !== undefined) { process.env['SERVICE_KEY'] = old; } else { delete process.env['SERVICE_KEY'] } });",
          "const old = process.env[NAME]; try { run() } finally { process.env[NAME] = old }",
      }) {
    EXPECT_FALSE(refused(text)) << text;
  }
}

TEST(KeptVariables, AValueThatIsOnlyAskedForIsNoRead) {
  for (const char* text : {
           "if (process.env.SERVICE_KEY) run();",
           "if (!process.env.SERVICE_KEY || !process.env.SERVICE_URL) run();",
           "if (process.env.SERVICE_KEY || process.env.SERVICE_URL) run();",
           "const update = process.env.UPDATE_BASELINES === 'true'; if (update) run();",
           "test.skipIf(!process.env.SERVICE_KEY)('a', run);",
           "use(process.env.SERVICE_KEY ? 'a' : 'b');",
           "const has = process.env.SERVICE_KEY !== undefined; use(has);",
           "use(typeof process.env.SERVICE_KEY);",
           "const has = Boolean(process.env.SERVICE_KEY); use(has);",
       }) {
    EXPECT_FALSE(refused(text)) << text;
  }
}

TEST(KeptVariables, AValueThatGoesAnywhereElseIsARead) {
  for (const char* text : {
           "const old = process.env.SERVICE_KEY;",
           "const old = process.env.SERVICE_KEY; use(old);",
           "const old = process.env.SERVICE_KEY; process.env.SERVICE_KEY = old + ''; ",
           "const old = process.env.SERVICE_KEY; afterEach(() => { process.env.OTHER_KEY = old });",
           "export const old = process.env.SERVICE_KEY;",
           "const old = process.env.SERVICE_KEY; export { old };",
           "const old = process.env.SERVICE_KEY; const all = { old };",
           "let old; old = process.env.SERVICE_KEY; process.env.SERVICE_KEY = old; use(`${old}`);",
           "const old = process.env.SERVICE_KEY; eval(text);",
           "const old = process.env.SERVICE_KEY + '';",
           "this.old = process.env.SERVICE_KEY;",
           "const { old = process.env.SERVICE_KEY } = given;",
           "const url = process.env.SERVICE_KEY ?? 'a';",
           "const url = process.env.SERVICE_KEY || 'a';",
           "if (process.env.SERVICE_KEY.startsWith(guess)) run();",
           "if (process.env.SERVICE_KEY[0] === 'a') run();",
           "if (process.env.SERVICE_KEY > guess) run();",
           "if (run(process.env.SERVICE_KEY)) stop();",
           "if (kept = process.env.SERVICE_KEY) run();",
           "if ((kept = process.env.SERVICE_KEY)) run();",
           "if (true || use(1, process.env.SERVICE_KEY)) run();",
           "process.env.SERVICE_KEY &&= use();",
           "const f = (old = process.env.SERVICE_KEY) => old;",
           "switch (process.env.SERVICE_KEY) { default: run() }",
           "class A { a = 1; old = process.env.SERVICE_KEY; } use(Object.values(new A()));",
           "class A extends f() { old = process.env.SERVICE_KEY; } use(Object.values(new A()));",
           "let old; class A { a = 1; old = process.env.SERVICE_KEY; } use(Object.values(new A()));",
           "let old; class A extends f() { old = process.env.SERVICE_KEY; } use(Object.values(new A()));",
           "old = process.env.SERVICE_KEY;",
           "skip(process.env.SERVICE_KEY);",
           "const old = process.env[next()]; process.env[next()] = old;",
           "const old = process.env.SERVICE_KEY, other = old;",
           "while (process.env.SERVICE_KEY !== guess) use(process.env.SERVICE_KEY);",
       }) {
    EXPECT_TRUE(refused(text)) << text;
  }
}

}  // namespace
}  // namespace guard
