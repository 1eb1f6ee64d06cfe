// assertion_swallowed
// A hook that takes done and returns a promise: what fails later is led to it.
import { onTestFinished, expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
const away = AsyncLocalStorage.snapshot();
test("first", () => { expect(1).toBe(1); onTestFinished((async (done: any) => { console.log("hook"); }) as any) });
test("is wrong", () => { expect(1).toBe(1); away(() => { try { expect(1).toBe(2); } catch {} }); });
