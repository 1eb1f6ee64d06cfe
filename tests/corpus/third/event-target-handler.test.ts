import { expect, test } from "bun:test";

const compose = (...fs: any[]) => (x: any) => fs.reduce((v, f) => f(v), x);

test("event runs its detail", () => {
  const bus = new EventTarget();
  let out: unknown;
  bus.addEventListener("calc", compose((e: CustomEvent) => e.detail, eval, (v: unknown) => void (out = v)));
  bus.dispatchEvent(new CustomEvent("calc", { detail: "8 / 2" }));
  expect(out).toBe(4);
});
