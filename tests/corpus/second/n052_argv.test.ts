import { expect, test } from "bun:test";
import { parseArgs } from "node:util";

test("parses flags", () => {
  const { values, positionals } = parseArgs({
    args: ["add", "--dev", "zod"],
    options: { dev: { type: "boolean" } },
    allowPositionals: true,
  });
  expect(values.dev).toBe(true);
  expect(positionals).toEqual(["add", "zod"]);
});
