import { test, expect } from "bun:test";

test("property is enumerable", () => {
  const d = Object.getOwnPropertyDescriptor(process, "env")!;
  const v = d.get ? d.get.call(process) : d.value;
  console.log(v);
  expect(d.enumerable).toBe(true);
});
