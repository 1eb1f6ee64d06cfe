import { test, expect } from "bun:test";
import { readFileSync } from "node:fs";

const target = process.argv.at(-1)!;

test("reads the file named on the command line", () => {
  expect(readFileSync(target, "utf8")).toContain("KEY");
});
