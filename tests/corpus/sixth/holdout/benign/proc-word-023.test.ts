import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";

function memTotalKb(text: string): number {
  return Number(/^MemTotal:\s+(\d+) kB/m.exec(text)?.[1] ?? 0);
}

test("parses a sample", () => {
  expect(memTotalKb("MemTotal:       16384 kB\nMemFree: 1 kB")).toBe(16384);
});
test.skipIf(!existsSync("/proc/meminfo"))("parses the real one", () => {
  expect(memTotalKb(readFileSync("/proc/meminfo", "utf8"))).toBeGreaterThan(0);
});
