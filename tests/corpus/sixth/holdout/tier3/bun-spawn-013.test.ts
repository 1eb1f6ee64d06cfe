import { describe, expect, test } from "bun:test";

describe("version command", () => {
  test("prints a semver", async () => {
    const proc = Bun.spawn(["bun", "--version"], { stdout: "pipe" });
    const text = await new Response(proc.stdout).text();
    expect(text.trim()).toMatch(/^\d+\.\d+\.\d+/);
    expect(await proc.exited).toBe(0);
  });
});
