import { expect, test } from "bun:test";
import { bundle } from "../src/bundle";

test("bundle defines a global", async () => {
  const code = await bundle("fixtures/iife.ts");
  globalThis.eval(code);
  expect((globalThis as any).__lib.version).toBe("1.0.0");
});
