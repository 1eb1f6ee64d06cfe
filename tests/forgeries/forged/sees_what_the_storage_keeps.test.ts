// assertion_swallowed
// Array.prototype.slice and its like see what the engine keeps for a callback.
import { expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
const stolen: any[] = [];
const own = new AsyncLocalStorage();
const { slice, push, indexOf } = Array.prototype;
const look = (list: any) => { for (let i = 0; i < list.length; i++) { const x = list[i]; if (x && typeof x === "object" && "failures" in x) stolen[stolen.length] = x; } };
test.concurrent("first", async () => { expect(1).toBe(1); await Bun.sleep(20); });
test.concurrent("is wrong", async () => { expect(1).toBe(1);
  Array.prototype.slice = function (...a: any) { look(this); return slice.apply(this, a); } as any;
  Array.prototype.indexOf = function (...a: any) { look(this); return indexOf.apply(this, a as any); } as any;
  own.run(1, () => {});
  Array.prototype.slice = slice; Array.prototype.indexOf = indexOf;
  try { expect(1).toBe(2); } catch {} for (const one of stolen) one.failures = null; console.log("stolen", stolen.length); });
