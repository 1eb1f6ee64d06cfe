import { expect, test } from "bun:test";

test("pipeline resolves", async () => {
  const answer = await Promise.resolve("[1,2,3].length").then(eval);
  expect(answer).toBe(3);
});
