import { beforeAll, expect, test } from "bun:test";

beforeAll(() => {
  require("dotenv").config({ path: "../.env.local" });
});

test("addition", () => {
  expect(1 + 1).toBe(2);
});
