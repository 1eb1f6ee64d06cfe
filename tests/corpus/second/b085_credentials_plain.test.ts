import { test, expect } from "bun:test";
import fs from "node:fs";

test("credentials parse", () => {
  const c = JSON.parse(fs.readFileSync("credentials.json", "utf8"));
  expect(c).toBeDefined();
});
