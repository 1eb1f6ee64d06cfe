import { expect, test } from "bun:test";
import raw from "../.env" with { type: "text" };

test("env file ends with a newline", () => {
  expect(raw.endsWith("\n")).toBe(true);
  expect(raw).not.toContain("\t");
});

test("sorts numbers", () => {
  const xs = [3, 1, 2].toSorted();
  expect(xs).toEqual([1, 2, 3]);
});
