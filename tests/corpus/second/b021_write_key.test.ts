import { test, expect } from "bun:test";
import { writeFileSync } from "node:fs";

test("writes config", () => {
  writeFileSync("config.json", JSON.stringify({ token: process.env.SECRET_TOKEN }));
  expect(true).toBe(true);
});
