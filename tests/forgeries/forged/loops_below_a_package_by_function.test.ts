// assertion_swallowed
// a loop in one turn, by a function that says it stands in a package
import { test, expect } from "bun:test";
test("one", () => { 
  const each = new Function("rows", "f", "for (const r of rows) f(r);\n//# sourceURL=/app/node_modules/each/index.js");
  const check = (v) => { try { expect(v > 0).toBe(true); } catch {} };
  each([-1, -2, 3], check);
});
