// assertion_swallowed
// AsyncLocalStorage is replaced before guard needs it, and shown the attempts.
import { expect, test } from "bun:test";
import hooks from "node:async_hooks";
const stolen: any[] = [];
const Real = hooks.AsyncLocalStorage;
(hooks as any).AsyncLocalStorage = class extends Real<any> { run(one: any, fn: any) { stolen.push(one); return super.run(one, fn); } };
test.concurrent("first", async () => { expect(1).toBe(1); await Bun.sleep(20); });
test.concurrent("is wrong", async () => { expect(1).toBe(1); await Bun.sleep(1); try { expect(1).toBe(2); } catch {} for (const one of stolen) one.failures = null; console.log("stolen", stolen.length); });
