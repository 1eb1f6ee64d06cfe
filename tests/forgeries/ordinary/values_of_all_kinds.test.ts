// Compares proxies, instances, collections, bytes, cycles, frozen things and those without a prototype.
import { expect, test } from "bun:test";
class Point { #hidden = 1; constructor(public x: number, public y: number) {} get sum() { return this.x + this.y + this.#hidden; } }
test("proxies", () => {
  const proxy = new Proxy({ a: 1 } as Record<string, unknown>, { get: (target, key) => (key === "b" ? 2 : Reflect.get(target, key)) });
  expect(proxy).toEqual({ a: 1 });
  expect(proxy.b).toBe(2);
  const chained: any = new Proxy(() => {}, { get: () => chained, apply: () => chained });
  expect(typeof chained.a.b.c()).toBe("function");
  expect(chained).toBe(chained);
  expect(new Proxy([1, 2], {})).toEqual([1, 2]);
});
test("instances", () => { expect(new Point(1, 2)).toEqual(new Point(1, 2)); expect(new Point(1, 2)).not.toStrictEqual({ x: 1, y: 2 }); expect(new Point(1, 2).sum).toBe(4); });
test("collections", () => { expect(new Map([["a", { b: 1 }]])).toEqual(new Map([["a", { b: 1 }]])); expect(new Set([1, 2])).toEqual(new Set([2, 1])); expect(new WeakMap()).toBeInstanceOf(WeakMap); });
test("bytes", () => { expect(new Uint8Array([1, 2])).toEqual(new Uint8Array([1, 2])); expect(Buffer.from("ab")).toEqual(Buffer.from("ab")); expect(new ArrayBuffer(2).byteLength).toBe(2); });
test("cycles", () => { const a: any = { n: 1 }; a.self = a; const b: any = { n: 1 }; b.self = b; expect(a).toEqual(b); });
test("no prototype", () => { expect(Object.assign(Object.create(null), { a: 1 })).toEqual({ a: 1 }); expect(Object.freeze({ a: 1 })).toEqual({ a: 1 }); });
test("thenables", async () => {
  const thenable = { then: (done: (n: number) => void) => done(5) };
  expect(await (thenable as never)).toBe(5 as never);
  await expect(thenable as never).toBeDefined();
  await expect(Promise.resolve(thenable)).resolves.toBe(5 as never);
});
test("others", () => { expect(10n).toBe(10n); expect(Symbol.for("x")).toBe(Symbol.for("x")); expect(NaN).toBeNaN(); expect(-0).not.toBe(0); expect(new Date(5)).toEqual(new Date(5)); expect(/a/g).toEqual(/a/g); expect(undefined).toBeUndefined(); expect(null).toBeNull(); expect(0.1 + 0.2).toBeCloseTo(0.3); expect(document0).toBeUndefined(); });
const document0 = (globalThis as any).document;
test("errors", () => { expect(new Error("a")).toEqual(new Error("a")); expect(new Error("a", { cause: 1 }).cause).toBe(1); expect(new AggregateError([new Error("b")]).errors).toHaveLength(1); });
test("generators", () => { function* count() { yield 1; yield 2; } expect([...count()]).toEqual([1, 2]); });
test("subclasses of promises", async () => { class Later<T> extends Promise<T> {} const later = Later.resolve(3); await expect(later).resolves.toBe(3); expect(later).toBeInstanceOf(Later); return later as never; });
test("returns a value", (() => { expect(1).toBe(1); return 5; }) as never);
