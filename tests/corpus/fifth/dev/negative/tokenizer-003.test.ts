import { expect, test } from "bun:test";
import { Tokenizer, TokenKind } from "../src/tokenizer";

const tokens = (s: string) => [...new Tokenizer(s)].map((t) => TokenKind[t.kind]);

test("keywords", () => {
  expect(tokens("new Function")).toEqual(["New", "Identifier", "Eof"]);
  expect(tokens("for (const k in o)")).toHaveLength(8);
});

test("token positions", () => {
  const [first, second] = new Tokenizer("a.b");
  expect([first.start, second.start]).toEqual([0, 1]);
});
