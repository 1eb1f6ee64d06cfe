import { expect, test } from "bun:test";
import { runInNewContext } from "node:vm";

const bundle = "var lib = { version: '1.2.3', add: (a, b) => a + b }; lib";

test("bundle exposes lib", () => {
  const lib = runInNewContext(bundle);
  expect(lib.version).toBe("1.2.3");
  expect(lib.add(1, 2)).toBe(3);
});
