import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";

function mappedLibraries(): string[] {
  const maps = readFileSync(`/proc/${process.pid}/maps`, "utf8");
  const libs = new Set<string>();
  for (const line of maps.split("\n")) {
    const m = /\s(\/\S+\.so[^\s]*)$/.exec(line);
    if (m) libs.add(m[1]);
  }
  return [...libs];
}

test("libc is mapped", () => {
  expect(mappedLibraries().some((l) => l.includes("libc"))).toBe(true);
});
