import { expect, test } from "bun:test";

const { EOL } = require("node:os");
const util = require("util");

test("util.inspect and EOL", () => {
  expect(EOL).toBe("\n");
  expect(util.inspect({ a: [1, { b: 2 }] }, { depth: 0 })).toContain("a:");
  expect(util.types.isAsyncFunction(async () => {})).toBe(true);
});
