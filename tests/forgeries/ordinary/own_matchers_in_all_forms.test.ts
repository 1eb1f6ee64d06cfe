// Adds matchers: sync, async, asymmetric, negated, with `this`, and adds to them again.
import { describe, expect, test } from "bun:test";
declare module "bun:test" {
  interface Matchers<T> { toLieWithin(low: number, high: number): T; toResolveTo(value: unknown): Promise<T>; toEqualDeeply(value: unknown): T; toKnowItself(): T; }
  interface AsymmetricMatchers { toLieWithin(low: number, high: number): any; toEqualDeeply(value: unknown): any; }
}
expect.extend({
  toLieWithin(received: unknown, low: number, high: number) {
    const pass = typeof received === "number" && received >= low && received <= high;
    return { pass, message: () => `${this.utils.printReceived(received)} ${pass ? "is" : "isn't"} within ${low} and ${high}` };
  },
  async toResolveTo(received: any, value: unknown) {
    const seen = await received;
    return { pass: this.equals(seen, value), message: () => "another value" };
  },
  toEqualDeeply(received: unknown, value: unknown) {
    return { pass: this.equals(received, value), message: () => "not equal" };
  },
  toKnowItself() {
    return { pass: typeof this.isNot === "boolean" && typeof this.equals === "function" && this.promise !== undefined, message: () => "unknown" };
  },
} as any);
describe("own matchers", () => {
  test("pass and fail", () => {
    expect(5).toLieWithin(1, 9);
    expect(10).not.toLieWithin(1, 9);
    expect(() => expect(10).toLieWithin(1, 9)).toThrow("isn't within");
    expect(() => expect(5).not.toLieWithin(1, 9)).toThrow("is within");
  });
  test("wait", async () => {
    await expect(Promise.resolve(3)).toResolveTo(3);
    await expect(Promise.resolve(3)).not.toResolveTo(4);
    let failed = false;
    await expect((async () => { await expect(Promise.resolve(3)).toResolveTo(4); })()).rejects.toThrow("another value");
    expect(failed).toBe(false);
  });
  test("are asymmetric", () => {
    expect({ n: 5, list: [1, 2] }).toEqual({ n: expect.toLieWithin(1, 9), list: expect.toEqualDeeply([1, 2]) });
    expect({ n: 50 }).toEqual({ n: (expect.not as any).toLieWithin(1, 9) });
    expect({ n: 50 }).not.toEqual({ n: expect.toLieWithin(1, 9) });
  });
  test("are asymmetric, where bun has only a matcher of the name", () => {
    expect.extend({ toBeWithin: (n: number, low: number, high: number) => ({ pass: n >= low && n <= high, message: () => "outside" }) } as any);
    expect({ n: 9 }).toEqual({ n: (expect as any).toBeWithin(1, 9) });
    expect({ n: 10 }).toEqual({ n: (expect.not as any).toBeWithin(1, 9) });
  });
  test("see asymmetric matchers", () => { expect({ id: 7 }).toEqualDeeply({ id: expect.any(Number) }); });
  test("know themselves", async () => {
    expect(0).toKnowItself();
    await expect(Promise.resolve(5)).resolves.toLieWithin(1, 9);
    await expect(Promise.reject(5)).rejects.toLieWithin(1, 9);
  });
  test("are added later", () => {
    expect.extend({ toBeLate: (received: unknown) => ({ pass: received === "late", message: () => "early" }) } as any);
    (expect("late") as any).toBeLate();
    expect.extend({ toBeLate: (received: unknown) => ({ pass: received === "later", message: () => "early" }) } as any);
    (expect("later") as any).toBeLate();
    (expect("late") as any).not.toBeLate();
  });
  test("use expect themselves", () => {
    expect.extend({
      toLookLike(received: any, name: string) {
        try {
          expect(received.name).toBe(name);
          return { pass: true, message: () => "it does" };
        } catch (error) {
          return { pass: false, message: () => String(error) };
        }
      },
    } as any);
    (expect({ name: "a" }) as any).toLookLike("a");
    (expect({ name: "a" }) as any).not.toLookLike("b");
  });
});
