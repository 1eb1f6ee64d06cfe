import { expect, test } from "bun:test";

test("built-ins as mappers", async () => {
  expect(["1", "2"].map(Number)).toEqual([1, 2]);
  expect([0, "", "a", null].filter(Boolean)).toEqual(["a"]);
  expect([1, 2].map(String)).toEqual(["1", "2"]);
  expect(await Promise.resolve('{"a":1}').then(JSON.parse)).toEqual({ a: 1 });
  expect(Array.from("abc", (c) => c.charCodeAt(0))).toEqual([97, 98, 99]);
  expect("a-b".replace(/[a-z]/g, encodeURIComponent)).toBe("a-b");
});
