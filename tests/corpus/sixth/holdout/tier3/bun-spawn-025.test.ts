import { describe, expect, it } from "bun:test";
import { spawn, sleep } from "bun";

describe("server process", () => {
  it("starts and stops", async () => {
    const proc = spawn({ cmd: ["sleep", "5"], stdout: "ignore" });
    await sleep(10);
    proc.kill();
    await proc.exited;
    expect(proc.killed).toBe(true);
  });
});
