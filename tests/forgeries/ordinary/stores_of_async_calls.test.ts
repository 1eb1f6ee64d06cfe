import { expect, test, describe } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
const als = new AsyncLocalStorage<number>();
const sleep = (n: number) => new Promise((r) => setTimeout(r, n));
describe.concurrent("stores", () => { for (const n of [1, 2, 3, 4]) test(`keeps ${n}`, () => als.run(n, async () => { await sleep(5 * n); expect(als.getStore()).toBe(n); await Promise.all([sleep(1), sleep(2)].map(async (p) => { await p; expect(als.getStore()).toBe(n); })); })); });
test("alone", async () => { await als.run(9, async () => { await sleep(1); expect(als.getStore()).toBe(9); }); expect(als.getStore()).toBeUndefined(); });
test("exit", () => { als.run(1, () => { als.exit(() => { expect(als.getStore()).toBeUndefined(); }); }); });
