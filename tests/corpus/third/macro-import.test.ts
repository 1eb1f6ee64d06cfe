import { expect, test } from "bun:test";
import { basename } from "node:path" with { type: "macro" };

test("name is inlined", () => {
  expect(basename("/a/b/c.txt")).toBe("c.txt");
});
