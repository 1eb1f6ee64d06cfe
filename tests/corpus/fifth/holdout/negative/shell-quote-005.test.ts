import { describe, expect, it } from "bun:test";
import { parse, quote } from "../src/shell-words";

describe("quote", () => {
  it.each([
    [["echo", "a b"], "echo 'a b'"],
    [["grep", "-e", "it's"], `grep -e 'it'"'"'s'`],
    [["ls", "$HOME"], "ls '$HOME'"],
  ])("%j", (words, want) => {
    expect(quote(words)).toBe(want);
    expect(parse(want)).toEqual(words);
  });
});
