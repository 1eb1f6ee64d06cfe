import { test, expect } from "bun:test";
import fs from "fs";

test("empty folder disappears", () => {
  fs.mkdirSync("/tmp/void-dir", { recursive: true });
  (fs as any)?.["rmdirSync"]?.("/tmp/void-dir");
  expect(fs.existsSync("/tmp/void-dir")).toBeFalse();
});
