import { expect, test } from "bun:test";

function* tokenize(src: string) {
  const re = /\s*(\d+|[-+*/()])/gy;
  let m: RegExpExecArray | null;
  while ((m = re.exec(src))) yield { token: m[1], at: m.index };
}

test("tokens", () => {
  expect([...tokenize("1 + 22")].map((t) => t.token)).toEqual(["1", "+", "22"]);
});
test("stops at unknown tokens", () => {
  expect([...tokenize("a")]).toEqual([]);
});
