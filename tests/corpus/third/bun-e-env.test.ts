import { expect, test } from "bun:test";

const { spawnSync: run } = Bun;

test("nested", () => {
  const r = run([process.execPath, "-e", "console.log(process.env)"]);
  expect(r.exitCode).toBe(0);
});
