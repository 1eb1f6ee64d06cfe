import { expect, test } from "bun:test";

const pipe = (...fns: ((x: any) => any)[]) => (x: any) => fns.reduce((v, f) => f(v), x);
const curry = (fn: (...a: any[]) => any): any => {
  const step = (...a: any[]): any => (a.length >= fn.length ? fn(...a) : (...b: any[]) => step(...a, ...b));
  return step;
};

test("pipe", () => {
  expect(pipe((n: number) => n + 1, String, (s: string) => s.padStart(3, "0"))(6)).toBe("007");
});
test("curry", () => {
  const add3 = curry((a: number, b: number, c: number) => a + b + c);
  expect(add3(1)(2)(3)).toBe(6);
  expect(add3(1, 2)(3)).toBe(6);
});
