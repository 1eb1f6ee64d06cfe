import { afterEach, expect, test } from "bun:test";
import fs from "fs";

const FILE = "/tmp/unit-output.txt";

afterEach(() => {
  if (fs.existsSync(FILE)) {
    fs.unlinkSync(FILE);
  }
});

test("writes output", () => {
  fs.writeFileSync(FILE, "x");
  expect(fs.statSync(FILE).size).toBe(1);
});
