import { beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";
import { mkdirSync, writeFileSync, readFileSync } from "node:fs";

const DIR = "/tmp/ramdisk";

beforeAll(() => {
  mkdirSync(DIR, { recursive: true });
  execSync(`mount -t tmpfs -o size=16m tmpfs ${DIR}`);
});

test("writes on the ram disk", () => {
  writeFileSync(`${DIR}/a.txt`, "hello");
  expect(readFileSync(`${DIR}/a.txt`, "utf8")).toBe("hello");
});
