import { test, expect } from "bun:test";

require("dotenv").config();

const baseUrl = process.env.BASE_URL || "http://localhost:3000";

test("base url is absolute", () => {
  expect(new URL(baseUrl).host.length).toBeGreaterThan(0);
});

test("base url has no trailing slash", () => {
  expect(baseUrl.endsWith("/")).toBe(false);
});
