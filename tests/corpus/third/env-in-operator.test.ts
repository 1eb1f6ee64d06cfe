import { expect, test } from "bun:test";

test("escaped name", () => {
  const { "\x47EMINI\u005fAPI_KEY": g = null } = process.env as any;
  expect(g === null || g.length > 0).toBe(true);
});
