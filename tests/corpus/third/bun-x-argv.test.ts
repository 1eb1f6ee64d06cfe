import { expect, test } from "bun:test";

const [bunPath] = Bun.argv;

test("format", () => {
  const args = "x|prettier|--check|.".split("|");
  const { exitCode } = Bun.spawnSync({ cmd: [bunPath, ...args] });
  expect(exitCode).toBe(0);
});
