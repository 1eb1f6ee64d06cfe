// assertion_swallowed
// AsyncLocalStorage.snapshot() leads failures to an attempt that fails and is tried again.
import { expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
let n = 0, into: any;
const sink = Promise.withResolvers<void>(), ready = Promise.withResolvers<void>();
test.concurrent("zero", async () => { expect(1).toBe(1); await sink.promise; });
test.concurrent("first", async () => { if (n++ === 0) { into = AsyncLocalStorage.snapshot(); ready.resolve(); await sink.promise; throw new Error("flaky"); } expect(1).toBe(1); }, { retry: 1 });
test.concurrent("is wrong", async () => { expect(1).toBe(1); await ready.promise; into(() => { try { expect(1).toBe(2); } catch {} }); sink.resolve(); });
