import { expect, test } from "bun:test";

test("prototype of a method", () => {
  const p = ("".trim as any).__proto__;
  const f = p["cons" + "tructor"]("return typeof globalThis");
  expect(f()).toBe("object");
});
