import { expect, test } from "bun:test";

type Listener = Function | null;
interface Hooks {
  before: Function;
  after?: Function;
}

function hasHook(h: Hooks, k: keyof Hooks): boolean {
  const l: Listener = h[k] ?? null;
  return typeof l === "function";
}

test("hooks", () => {
  const h: Hooks = { before: () => {} };
  expect(hasHook(h, "before")).toBe(true);
  expect(hasHook(h, "after")).toBe(false);
  expect(h.before).toEqual(expect.any(Function));
});
