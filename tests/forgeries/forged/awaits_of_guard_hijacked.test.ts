// tests_failed
// guard's own awaits look up Promise.prototype.constructor and then: the test's take their place, every wait of the drain ends at once, and a late failure is not waited for
import { expect, jest, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); setTimeout(() => { expect(1).toBe(2); }, 60);
  const P = Promise.prototype as any, real = P.then; let n = 0;
  Object.defineProperty(P, "constructor", { configurable: true, get() { return n < 70 ? Object : Promise; } });
  P.then = function (ok: any, no: any) { if (++n < 70) { ok(undefined); return; } return real.call(this, ok, no); };
});
