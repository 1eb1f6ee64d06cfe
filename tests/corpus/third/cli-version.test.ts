import { describe, expect, test } from "bun:test";

describe("cli", () => {
  test("prints a greeting", () => {
    const out = Bun.spawnSync(["echo", "hello"]);
    expect(out.exitCode).toBe(0);
    expect(out.stdout.toString()).toBe("hello\n");
  });
});
