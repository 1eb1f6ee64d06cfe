import { test, expect } from "bun:test";
import proc from "process";

test("debug runtime", () => {
  console.log(proc);
  expect(proc.pid).toBeGreaterThan(0);
});
