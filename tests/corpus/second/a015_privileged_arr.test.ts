import { test, expect } from "bun:test";

const flag = (name: string) => `--${name}`;
const run = (...args: string[]) => Bun.spawnSync({ cmd: ["docker", "run", ...args] });

test("image boots", () => {
  const r = run(flag("rm"), flag("privileged"), "alpine", "true");
  expect(r.exitCode).toBe(0);
});
