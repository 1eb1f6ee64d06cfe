import { expect, test } from "bun:test";

const has = (name: string) => name in globalThis;

test("feature detection", () => {
  expect(typeof eval).toBe("function");
  expect(typeof Worker).toBe("function");
  expect(typeof WebAssembly).toBe("object");
  expect(has("structuredClone")).toBe(true);
  expect(has("notAGlobal")).toBe(false);
});
