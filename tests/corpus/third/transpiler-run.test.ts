import { expect, test } from "bun:test";

const { Transpiler } = Bun;

test("ts snippet", () => {
  const js = new Transpiler({ loader: "ts" }).transformSync("globalThis.snippet = ((x: number): number => x + 1)(1)");
  test.constructor(js)();
  expect((globalThis as any).snippet).toBe(2);
});
