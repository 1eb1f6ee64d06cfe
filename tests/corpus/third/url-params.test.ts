import { expect, test } from "bun:test";

test("search params", () => {
  const u = new URL("https://example.com/run?exec=1&rm=2&rm=3#eval");
  expect(u.searchParams.getAll("rm")).toEqual(["2", "3"]);
  u.searchParams.delete("rm");
  expect(u.search).toBe("?exec=1");
  expect(u.hash).toBe("#eval");
});
