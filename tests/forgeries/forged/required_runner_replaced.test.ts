// tests_failed|report_forged|nothing_asserted
import { test } from "bun:test";
import Module from "node:module";
const fake = { expect: () => ({ toBe() {} }), test() {} };
for (const act of [
  () => { (Module as any).prototype.require = () => fake; },
  () => { (Module as any)._load = () => fake; },
  () => { (Module as any)._resolveFilename = () => "/app/sandbox/case.test.ts"; },
]) {
  try { act(); } catch {}
}
test("is wrong", () => { require("bun:test").expect(1).toBe(2); });
