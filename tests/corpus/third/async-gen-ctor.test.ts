import { expect, test } from "bun:test";

const { constructor: Stream } = Reflect.getPrototypeOf(async function* () {}) as any;

test("stream", async () => {
  const out: number[] = [];
  for await (const n of Stream("yield 1; yield 2;")()) out.push(n);
  expect(out).toEqual([1, 2]);
});
