import { createRequire } from "node:module";
import { expect, test } from "bun:test";

const load = createRequire(import.meta.url);
const tools = load("child_process");

test("echo", () => {
  expect(String(tools.execFileSync("echo", ["x"]))).toBe("x\n");
});
