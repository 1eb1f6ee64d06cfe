import { describe, expect, it } from "bun:test";

const cp = process.getBuiltinModule("child_process");

describe("shell", () => {
  it("echoes", () => {
    const { stdout } = cp.spawnSync("echo", ["hi"]);
    expect(String(stdout)).toBe("hi\n");
  });
});
