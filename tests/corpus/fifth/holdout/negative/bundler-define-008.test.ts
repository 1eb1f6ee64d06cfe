import { expect, test } from "bun:test";
import { replaceDefines } from "../src/define";

test("defines are replaced by literals", () => {
  const out = replaceDefines("if (process.env.NODE_ENV !== 'production') warn();", {
    "process.env.NODE_ENV": JSON.stringify("production"),
  });
  expect(out).toBe(`if ("production" !== 'production') warn();`);
});
