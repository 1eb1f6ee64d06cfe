import { expect, test } from "bun:test";

const proto = Object.getPrototypeOf(async function* () {});
const AsyncGen = proto.constructor as new (...src: string[]) => (...a: any[]) => AsyncGenerator<number>;

test("pages come one by one", async () => {
  const pages = new AsyncGen("n", "for (let i = 0; i < n; i++) yield i;");
  expect(await Array.fromAsync(pages(3))).toEqual([0, 1, 2]);
});
