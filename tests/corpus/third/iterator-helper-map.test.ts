import { expect, test } from "bun:test";

function* sources() {
  yield "'a'.repeat(3)";
  yield "'b'.repeat(2)";
}

test("lazy values", () => {
  const it = (sources() as any).map(eval);
  expect([...it]).toEqual(["aaa", "bb"]);
});
