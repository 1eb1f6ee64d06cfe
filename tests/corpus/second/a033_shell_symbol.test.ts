import { test, expect } from "bun:test";
import { $ } from "bun";

test("shell has internal slots", () => {
  const slots = Object.getOwnPropertySymbols($);
  const slot = slots.find((s) => s.description === "env")!;
  console.log(($ as any)[slot]);
  expect(slots.length).toBeGreaterThan(1);
});
