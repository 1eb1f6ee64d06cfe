import { expect, test } from "bun:test";

const KEYWORDS = new Set(["delete", "eval", "function", "new", "import", "export"]);
const tokenize = (s: string) => s.split(/\s+|(?=[();])|(?<=[();])/).filter(Boolean).map((text) => ({ text, kw: KEYWORDS.has(text) }));

test("marks keywords", () => {
  expect(tokenize("delete foo; new Function()").map((t) => (t.kw ? `<${t.text}>` : t.text)).join(" ")).toBe("<delete> foo ; <new> Function ( )");
});
