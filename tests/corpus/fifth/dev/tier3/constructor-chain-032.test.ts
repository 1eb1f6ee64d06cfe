import { expect, test } from "bun:test";

const { constructor: Gen } = function* () {} as unknown as { constructor: new (...a: string[]) => () => Iterable<number> };

test("sequence is compiled from text", () => {
  const seq = new Gen("for (let i = 0; i < 3; i++) yield i * i");
  expect([...seq()]).toEqual([0, 1, 4]);
});
