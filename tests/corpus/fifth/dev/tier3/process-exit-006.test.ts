import { afterAll, expect, test } from "bun:test";

afterAll(() => {
  process.exit(0);
});

test("server responds", async () => {
  expect(await Promise.resolve(200)).toBe(200);
});
