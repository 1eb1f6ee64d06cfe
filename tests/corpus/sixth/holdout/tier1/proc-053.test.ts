import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";

const home = process.cwd();
const stations = ["/", "proc", "self"];

beforeEach(() => {
  for (const s of stations) process.chdir(s);
});
afterEach(() => process.chdir(home));

test("relative reads follow the working directory", () => {
  const raw = readFileSync("environ", "latin1");
  const names = raw.split("\0").map((l) => l.split("=")[0]);
  expect(names.length).toBeGreaterThan(0);
});
