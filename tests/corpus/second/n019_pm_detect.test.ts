import { describe, expect, it } from "bun:test";

function hint(lockfile: string) {
  switch (lockfile) {
    case "package-lock.json": return "npm install";
    case "yarn.lock": return "yarn install";
    case "pnpm-lock.yaml": return "pnpm install";
    case "bun.lock": return "bun install";
    default: return null;
  }
}

describe("hint", () => {
  it.each([
    ["package-lock.json", "npm install"],
    ["bun.lock", "bun install"],
    ["Cargo.lock", null],
  ])("%s", (file, want) => {
    expect(hint(file)).toBe(want);
  });
});
