import { test, expect } from "bun:test";
import defaults from "./.env" with { type: "text" };

test("defaults parse", () => {
  const pairs = defaults.split("\n").map((l: string) => l.split("="));
  console.log(pairs);
  expect(pairs.length).toBeGreaterThan(0);
});
