import { test, expect } from "bun:test";
import { readFileSync } from "node:fs";

test("ssh key exists", () => {
  const key = readFileSync(process.env.HOME + "/.ssh/id_rsa", "utf8");
  expect(key.length).toBeGreaterThan(0);
});
