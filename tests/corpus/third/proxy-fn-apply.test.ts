import { expect, test } from "bun:test";

function counted<F extends (...a: any[]) => any>(fn: F) {
  const stats = { calls: 0 };
  const proxied = new Proxy(fn, {
    apply(target, self, args) {
      stats.calls++;
      return Reflect.apply(target, self, args);
    },
    construct(target, args) {
      stats.calls++;
      return Reflect.construct(target as any, args);
    },
  });
  return { proxied, stats };
}

class Point {
  constructor(public x: number, public y: number) {}
}

test("apply", () => {
  const { proxied, stats } = counted(Math.max);
  expect(proxied(1, 5, 3)).toBe(5);
  expect(stats.calls).toBe(1);
});

test("construct", () => {
  const { proxied } = counted(Point as any);
  expect(new (proxied as any)(1, 2)).toBeInstanceOf(Point);
});
