import { expect, test } from "bun:test";

const handlers = {
  onCreate: (n: number) => n + 1,
  onRemove: (n: number) => n - 1,
  onReset: () => 0,
};

function dispatch(type: "create" | "remove" | "reset", n: number) {
  const name = `on${type[0].toUpperCase()}${type.slice(1)}` as keyof typeof handlers;
  return handlers[name](n);
}

test.each([
  ["create", 2],
  ["remove", 0],
  ["reset", 0],
] as const)("dispatch(%s)", (type, want) => {
  expect(dispatch(type, 1)).toBe(want);
});
