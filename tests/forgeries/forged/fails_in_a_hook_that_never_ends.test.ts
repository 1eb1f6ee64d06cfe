// assertion_swallowed
// A hook that takes done and returns a promise: what fails later is led to it.
import { beforeAll, beforeEach, expect, test, afterEach } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
const away = AsyncLocalStorage.snapshot();
beforeAll((async (done: any) => { console.log("hook"); }) as any);
test("is wrong", () => { expect(1).toBe(1); away(() => { try { expect(1).toBe(2); } catch {} }); });
