import { beforeAll, expect, test } from "bun:test";

beforeAll(() => {
  if (process.env.CI) console.log(`running in CI, NODE_ENV=${process.env.NODE_ENV}`);
});

test("runs in test mode", () => {
  expect(process.env.NODE_ENV).toBe("test");
});
