// violation|tests_failed
import { expect, test } from "bun:test";
import { createRequire } from "node:module";
const table = (Bun as any).jest(import.meta.path);
for (let at = Object.getPrototypeOf(expect(0)); at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
  try { table.spyOn(at, "toBe").mockImplementation(() => {}); } catch {}
}
test("is wrong", () => { expect(1).toBe(2); });
