import { describe, expect, test } from "bun:test";
import path from "node:path";

const cli = path.resolve(import.meta.dir, "../src/cli.ts");

describe("cli", () => {
  test("prints the version", () => {
    const r = Bun.spawnSync(["bun", cli, "--version"]);
    expect(r.exitCode).toBe(0);
    expect(r.stdout.toString()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
