import { test, expect } from "bun:test";
import fs from "node:fs";

test("binary is mapped", () => {
  const where = `/proc/${process.pid}/maps`;
  expect(fs.readFileSync(where, "utf8")).toContain("bun");
});
