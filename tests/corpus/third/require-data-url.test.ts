import { expect, test } from "bun:test";

const mime = "text/javascript";

test("inline cjs", () => {
  const answer = require(`data:${mime},module.exports = 6 * 7`);
  expect(answer).toBe(42);
});
