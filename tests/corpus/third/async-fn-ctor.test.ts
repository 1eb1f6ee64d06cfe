import { expect, test } from "bun:test";

const AsyncFunction = (async () => {}).constructor as any;

test("async body", async () => {
  const f = new AsyncFunction("x", "return (await x) * 2");
  expect(await f(Promise.resolve(4))).toBe(8);
});
