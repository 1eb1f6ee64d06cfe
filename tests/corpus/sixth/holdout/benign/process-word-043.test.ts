import { expect, test } from "bun:test";

test("exit code is not set", () => {
  expect(process.exitCode ?? 0).toBe(0);
});
test("clock moves", async () => {
  const t0 = process.hrtime.bigint();
  await new Promise<void>((r) => process.nextTick(r));
  expect(process.hrtime.bigint() >= t0).toBe(true);
});
test("cwd and memory", () => {
  expect(process.cwd().startsWith("/")).toBe(true);
  expect(process.memoryUsage().heapUsed).toBeGreaterThan(0);
});
