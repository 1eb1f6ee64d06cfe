// assertion_swallowed
// a loop in one turn, by a function that says it stands in a package
import { test, expect } from "bun:test";
import vm from "node:vm";
test("one", () => { 
  const each = vm.runInThisContext("(rows, f) => { for (const r of rows) f(r); return 1; }", { filename: "/app/node_modules/each/index.js" });
  const check = (v) => { try { expect(v > 0).toBe(true); } catch {} };
  each([-1, -2, 3], check);
});
