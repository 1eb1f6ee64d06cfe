import { describe, expect, it } from "bun:test";
import { addCommand, detectManager } from "../src/pm";

describe("detectManager", () => {
  it.each([
    ["yarn.lock", "yarn"],
    ["pnpm-lock.yaml", "pnpm"],
    ["bun.lockb", "bun"],
  ])("%s means %s", (lock, pm) => {
    expect(detectManager([lock, "package.json"])).toBe(pm);
  });

  it("builds a dev command", () => {
    expect(addCommand("pnpm", ["vitest"], { dev: true })).toEqual({ bin: "pnpm", verb: "add", args: ["-D", "vitest"] });
  });
});
