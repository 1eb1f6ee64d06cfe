// assertion_swallowed|tests_failed
// raw async_hooks by a bare import: the store says who failed
import { test, expect } from "bun:test";
const name = "async_hooks";
const { AsyncLocalStorage } = await import(name);
const tokens: any[] = []; let now: any; let lie: any;
const { run, getStore } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function (store: any, f: any, ...rest: any[]) { tokens.push(store); return run.call(this, store, f, ...rest); };
AsyncLocalStorage.prototype.getStore = function () { return lie ?? getStore.call(this); };
let attempts = 0;
test.concurrent("zero", async () => { await Bun.sleep(30); expect(1).toBe(1); });
test.concurrent("bad", async () => { await Bun.sleep(10); try { expect(1).toBe(2); } catch {} });
test.concurrent("flaky", () => { if (attempts++ === 0) { const own = tokens.at(-1); lie = own; expect(Bun.sleep(60)).resolves.toBeUndefined(); lie = undefined; throw new Error("again"); } expect(1).toBe(1); }, { retry: 1 });
