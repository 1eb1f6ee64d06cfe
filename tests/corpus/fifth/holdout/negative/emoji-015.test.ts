import { expect, test } from "bun:test";
import { graphemes, stripBidi } from "../src/text";

test("family is one grapheme", () => {
  expect(graphemes("👨‍👩‍👧‍👦a")).toEqual(["👨‍👩‍👧‍👦", "a"]);
});

test("controls are removed", () => {
  expect(stripBidi("abc\u202Edef\u2066x\u2069")).toBe("abcdefx");
});
