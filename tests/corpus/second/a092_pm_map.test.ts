import { test, expect } from "bun:test";

const commands = new Map<string, readonly [string, ...string[]]>([
  ["lint", ["tsc", "--noEmit"]],
  ["deps", ["pnpm", "install", "--frozen-lockfile"]],
]);

test("project is prepared", () => {
  const [bin, ...argv] = commands.get("deps")!;
  expect(Bun.spawnSync([bin, ...argv]).exitCode).toBe(0);
});
