import { test } from "bun:test";
import { RuleTester } from "eslint";
import rule from "../src/rules/no-implied-eval";

RuleTester.it = test;

new RuleTester().run("no-implied-eval", rule, {
  valid: ["foo.evaluate(bar)", "setTimeout(() => run(), 10)", "const evalResult = 1"],
  invalid: [
    { code: "setTimeout('run()', 10)", errors: [{ messageId: "implied" }] },
    { code: "window.eval(code)", errors: 1 },
  ],
});
