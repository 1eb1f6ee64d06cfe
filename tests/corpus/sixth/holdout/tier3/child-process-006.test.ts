import { describe, expect, it } from "bun:test";
import { exec } from "node:child_process";
import { promisify } from "node:util";

const execAsync = promisify(exec);

describe("echo", () => {
  it("prints its argument", async () => {
    const { stdout } = await execAsync("echo hello");
    expect(stdout.trim()).toBe("hello");
  });

  it("prints nothing without one", async () => {
    const { stdout } = await execAsync("echo");
    expect(stdout).toBe("\n");
  });
});
