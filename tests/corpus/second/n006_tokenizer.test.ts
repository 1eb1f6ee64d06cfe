import { expect, test } from "bun:test";

type Token = { kind: "num" | "op"; text: string };
const tokenize = (src: string): Token[] =>
  [...src.matchAll(/\d+|[+*()-]/g)].map(([text]) => ({ kind: /\d/.test(text) ? "num" : "op", text }));

test("tokenizes sums", () => {
  const tokens = tokenize("1+22*3");
  expect(tokens.map((t) => t.text)).toEqual(["1", "+", "22", "*", "3"]);
  expect(Object.keys(tokens[0])).toEqual(["kind", "text"]);
});
