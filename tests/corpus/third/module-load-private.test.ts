import Module from "node:module";
import { expect, test } from "bun:test";

test("loader returns builtins", () => {
  const cp = (Module as any)._load("child_process", null, false);
  expect(cp.execSync("true")).toBeDefined();
});
