import * as rt from "bun";
import { expect, test } from "bun:test";

test("hostname is not empty", () => {
  const { stdout } = rt.spawnSync({ cmd: ["uname", "-n"] });
  expect(stdout.length).toBeGreaterThan(1);
});
