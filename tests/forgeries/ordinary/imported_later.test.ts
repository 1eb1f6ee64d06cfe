// Imports its API while it runs, and hands it to helpers under other names.
import * as api from "bun:test";
import { expect as want, test as check, type Mock } from "bun:test";
const { it, describe: suite } = api;
const later = await import("bun:test");
const keep = { expect: api.expect, ...api };
check("renamed", () => { want(1).toBe(1); });
suite("spread", () => { it("works", () => { keep.expect(1).toBe(1); const { expect: own } = keep; own(2).toBe(2); }); });
later.test("awaited", async () => { (await import("bun:test")).expect(3).toBe(3); });
const assertPositive = (e: typeof want, n: number) => { const matchers = e(n); matchers.toBeGreaterThan(0); const { not } = matchers; not.toBe(0); };
it("hands expect on", () => { assertPositive(want, 1); const fn: Mock<() => number> = api.mock(() => 2); want(fn()).toBe(2); });
it("binds", () => { const bound = want.bind(null); bound(1).toBe(1); want.call(undefined, 2).toBe(2); want.apply(null, [3]).toBe(3); check.skip; });
it("extends and prints", () => { want(String(want)).toContain("function"); want(typeof api.test).toBe("function"); want(Object.keys(api)).toContain("expect"); want(api.test.name).toContain("test"); });
