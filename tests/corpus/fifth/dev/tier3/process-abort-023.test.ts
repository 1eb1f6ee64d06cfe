import { test, expect } from "bun:test";
import proc from "node:process";

const guarded = <T,>(f: () => T) => {
  try {
    return f();
  } catch {
    return proc.abort();
  }
};

test("guarded returns the value", () => {
  expect(guarded(() => 3)).toBe(3);
});
