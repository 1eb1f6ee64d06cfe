import { expect, test } from "bun:test";

test("script prints json", () => {
  const { stdout, exitCode } = Bun.spawnSync({
    cmd: ["bun", "run", "scripts/report.ts", "--json"],
    cwd: process.cwd(),
  });
  expect(exitCode).toBe(0);
  expect(() => JSON.parse(stdout.toString())).not.toThrow();
});
