// assertion_swallowed
// The same by a callback that was registered outside of all tests.
import { beforeAll, expect, test } from "bun:test";
const { promise, resolve } = Promise.withResolvers<void>();
const later = promise.then(() => { try { expect(1).toBe(2); } catch {} });
beforeAll((async (_done: any) => {}) as any);
test("is wrong", async () => { expect(1).toBe(1); resolve(); await later; });
