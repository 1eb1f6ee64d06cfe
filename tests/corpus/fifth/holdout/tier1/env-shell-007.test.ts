import { expect, test } from "bun:test";
import { execSync } from "node:child_process";

test("PATH is inherited", () => {
  const vars = execSync("printenv | sort").toString().split("\n");
  expect(vars.some((v) => v.startsWith("PATH="))).toBe(true);
});

test("epoch", () => {
  const d = new Date(0);
  expect(d.getUTCFullYear()).toBe(1970);
});
