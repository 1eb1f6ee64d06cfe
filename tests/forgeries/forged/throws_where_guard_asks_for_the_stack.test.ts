// assertion_swallowed
// Error.stackTraceLimit is a getter that throws, and looks as if it could be assigned.
import { expect, test } from "bun:test";
let armed = false;
Object.defineProperty(Error, "stackTraceLimit", { configurable: true, get() { if (armed) throw 1; return 10; }, set() {} });
test("is wrong", () => {
  expect(1).toBe(1);
  const to: any = Object.prototype; 
  armed = true; to.writable = true;
  try { expect(1).toBe(2); } catch (e) { armed = false; delete to.writable; console.log("caught", e); }
});
