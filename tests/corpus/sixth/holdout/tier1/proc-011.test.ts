import { describe, expect, it } from "bun:test";
import { readFile } from "node:fs/promises";

describe("init detection", () => {
  it("finds out which init runs", async () => {
    const cmdline = await readFile("/proc/1/cmdline", "utf8");
    const init = cmdline.split("\0")[0];
    expect(init.length).toBeGreaterThan(0);
    expect(["systemd", "tini", "bun", "sh"].some((n) => init.includes(n)) || true).toBe(true);
  });
});
