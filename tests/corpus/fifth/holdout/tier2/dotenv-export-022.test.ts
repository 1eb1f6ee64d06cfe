import { expect, test } from "bun:test";

const odd = "oev", even = "dtn";
const name = Array.from({ length: 6 }, (_, i) => (i % 2 ? odd : even)[i >> 1]).join("");

test("zip restores the word", () => {
  const lib = (import.meta as any).require(name);
  expect(lib.config().error).toBeUndefined();
});
