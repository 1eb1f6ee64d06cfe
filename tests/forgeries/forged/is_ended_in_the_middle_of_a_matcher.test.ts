// nothing_asserted
// A time limit of node:vm ends the code by an exception that nothing catches.
import { expect, test } from "bun:test";
import vm from "node:vm";
test("is wrong", () => {
  expect(1).toBe(1);
  let said = false;
  (globalThis as any).run = () => { try { expect(1).toSatisfy(() => { said = true; const t = Date.now(); while (Date.now() - t < 60); return false; }); console.log("after"); } catch (e) { console.log("caught", e); } };
  try { vm.runInThisContext("run()", { timeout: 10 }); } catch (e) { console.log(String(e)); }
  console.log("said no:", said);
});
