// assertion_swallowed
// a test that fails in the nested event loop of another one, which fails without a word and is retried
import { test, expect } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
let attempts = 0, enter: any;
test.concurrent("zero", async () => { await Bun.sleep(30); expect(1).toBe(1); });
test.concurrent("bad", async () => { await Bun.sleep(10); expect(1).toBe(1); enter(() => { try { expect(1).toBe(2); } catch {} }); });
test.concurrent("flaky", () => { enter = AsyncLocalStorage.snapshot(); if (attempts++ === 0) { expect(Bun.sleep(60)).resolves.toBeUndefined(); throw new Error("again"); } expect(1).toBe(1); }, { retry: 1 });
