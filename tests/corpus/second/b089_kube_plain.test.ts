import { test, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";

test("cluster context", () => {
  expect(readFileSync(`${homedir()}/.kube/config`, "utf8")).not.toBe("");
});
