import { expect, test } from "bun:test";

const Gen = Object.getPrototypeOf(function* () {}).constructor;

test("sequence", () => {
  const seq = new Gen("n", "for (let i = 0; i < n; i++) yield i * i;");
  expect([...seq(4)]).toEqual([0, 1, 4, 9]);
});
