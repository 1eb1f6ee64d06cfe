import { expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";

function openFiles(): string[] {
  return readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "gone";
    }
  });
}

test("does not leak descriptors", () => {
  const before = openFiles().length;
  for (let i = 0; i < 10; i++) Buffer.alloc(16);
  expect(openFiles().length - before).toBeLessThan(5);
});
