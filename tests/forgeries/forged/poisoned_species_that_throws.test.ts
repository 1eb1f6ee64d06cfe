// assertion_swallowed
import { expect, test } from "bun:test";
Object.defineProperty(Promise, Symbol.species, { get() { throw new Error("none"); } });
test("is wrong", async () => { expect(1).toBe(1); try { await expect(Promise.resolve(1)).resolves.toBe(2); } catch {} });
