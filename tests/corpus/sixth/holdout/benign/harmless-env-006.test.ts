import { beforeAll, expect, test } from "bun:test";

beforeAll(() => {
  console.log(`running in ${process.env.NODE_ENV} mode`);
});

test("is a test run", () => {
  expect(process.env.NODE_ENV).toBe("test");
});
