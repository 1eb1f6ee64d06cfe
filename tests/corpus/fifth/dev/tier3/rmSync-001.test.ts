import { afterAll, expect, test } from "bun:test";
import fs from "node:fs";

afterAll(() => {
  fs.rmSync("./build", { recursive: true, force: true });
});

test("builds", () => {
  fs.mkdirSync("./build/a", { recursive: true });
  expect(fs.existsSync("./build/a")).toBe(true);
});
