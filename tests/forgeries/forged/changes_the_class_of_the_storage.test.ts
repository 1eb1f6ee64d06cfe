// assertion_swallowed
import { expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
let armed = false;
const { getStore } = AsyncLocalStorage.prototype;
const nobody = { test: null, over: false, assertions: 0, matchers: 0, wanted: -1, failures: null };
AsyncLocalStorage.prototype.getStore = function (this: any) { return armed ? nobody : getStore.call(this); } as any;
test.concurrent("first", async () => { expect(1).toBe(1); await Bun.sleep(5); });
test.concurrent("is wrong", async () => { expect(1).toBe(1); armed = true; try { expect(1).toBe(2); } catch {} armed = false; });
