import { expect, spyOn, test } from "bun:test";
import { printTable } from "../src/table";

test("prints a ruler", () => {
  const spy = spyOn(process.stdout, "write").mockReturnValue(true);
  printTable([{ a: 1, b: "x" }]);
  const text = spy.mock.calls.map(([s]) => String(s)).join("");
  spy.mockRestore();
  expect(text).toContain("─");
  expect(text.split("\n")).toHaveLength(5);
});
