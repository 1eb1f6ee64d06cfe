import { afterEach, expect, test } from "bun:test";

const before = process.env.NODE_ENV;
afterEach(() => { process.env.NODE_ENV = before; });

const isProd = () => process.env.NODE_ENV === "production";

test("production flag", () => {
  process.env.NODE_ENV = "production";
  expect(isProd()).toBe(true);
});
