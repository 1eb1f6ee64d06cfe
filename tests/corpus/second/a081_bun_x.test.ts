import { test, expect } from "bun:test";
import { spawn } from "bun";

const tool = (name: string, ...rest: string[]) => spawn({ cmd: ["bun", "x", name, ...rest] });

test("eslint is clean", async () => {
  expect(await tool("eslint", ".").exited).toBe(0);
});
