import { expect, test } from "bun:test";
declare global { interface Array<T> { last(): T } }
Array.prototype.last = function () { return this[this.length - 1]; };
Object.defineProperty(Object.prototype, "isMine", { get() { return true; }, configurable: true });
String.prototype.shout = function () { return this.toUpperCase() + "!"; } as any;
test("polyfills", () => { expect([1, 2].last()).toBe(2); expect(({} as any).isMine).toBe(true); expect(("a" as any).shout()).toBe("A!"); expect([1, 2]).toEqual([1, 2]); });
test("global this", () => { (globalThis as any).__DEV__ = true; (globalThis as any).fetch = async () => new Response("x"); expect((globalThis as any).__DEV__).toBeTrue(); });
