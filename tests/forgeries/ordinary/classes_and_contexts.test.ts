// Classes that say themselves what their instances are, matchers that use what they are given, groups that wait, and modules by computed names.
import { describe, expect, test } from "bun:test";

class Even {
  static [Symbol.hasInstance](value: unknown) { return (value as { n: number }).n % 2 === 0; }
}
class Coded extends TypeError {
  static message = "coded";
  code = 7;
}

test("classes", () => {
  expect({ n: 2 }).toBeInstanceOf(Even);
  expect({ n: 3 }).not.toBeInstanceOf(Even);
  expect(() => { throw new Coded("coded"); }).toThrow(TypeError);
  expect(new Coded("x")).toBeInstanceOf(TypeError);
  expect({ error: new Coded("x") }).toEqual({ error: expect.any(Coded) });
  expect(() => { throw new Error("abc"); }).toThrow(/^a.c$/);
});

declare module "bun:test" { interface Matchers<T> { toHaveTheItems(items: unknown[]): void } }
expect.extend({
  toHaveTheItems(received: unknown, items: unknown) {
    const pass = (this as any).equals(received, items);
    return { pass, message: () => `${(this as any).utils.printReceived(received)} and ${(this as any).utils.printExpected(items)}` };
  },
});
test("contexts", () => {
  expect([1, { a: 2 }]).toHaveTheItems([1, { a: 2 }]);
  expect([1]).not.toHaveTheItems([2]);
  expect(() => expect([1]).toHaveTheItems([2])).toThrow();
});

describe("waits", async () => {
  const { add } = await import("../src/add");
  test("and declares", () => { expect(add(1, 2)).toBe(3); });
});

test("by computed names", async () => {
  for (const name of ["assert", "node:assert", "async_hooks"]) {
    const module = await import(name);
    if ("AsyncLocalStorage" in module) expect(new module.AsyncLocalStorage().run(7, () => 7)).toBe(7);
    else module.strictEqual(1, 1);
  }
});

test.each([["a", 1], ["b", 2]])("%s", (text, number) => { expect(text.length).toBe(number > 0 ? 1 : 0); });
