// Listens to the process, sets its exit code and takes it back, changes folder and environment.
import { afterEach, expect, test } from "bun:test";
import { tmpdir } from "node:os";
const folder = process.cwd();
afterEach(() => { process.chdir(folder); process.removeAllListeners("SIGUSR2"); });
test("exit code", () => { process.exitCode = 3; expect(process.exitCode).toBe(3); process.exitCode = 0; });
test("listeners", () => {
  const told: unknown[] = [];
  for (const event of ["exit", "beforeExit", "SIGTERM", "SIGINT", "SIGUSR2", "uncaughtException", "unhandledRejection", "warning"]) process.on(event as never, (value: unknown) => { told.push(value); });
  process.once("exit", () => {});
  process.emit("SIGUSR2" as never, "SIGUSR2" as never);
  expect(told).toEqual(["SIGUSR2"]);
  expect(process.listenerCount("exit")).toBeGreaterThan(1);
});
test("folder", () => { process.chdir(tmpdir()); expect(process.cwd()).toContain("tmp"); });
test("environment", () => { process.env.TZ = "Asia/Tokyo"; expect(new Date(0).getHours()).toBe(9); delete process.env.TZ; });
test("output", () => { console.log("✓ said"); console.error("said"); process.stdout.write("1 pass\n"); process.stderr.write("0 fail\n"); expect(1).toBe(1); });
test("time", () => { const before = process.hrtime.bigint(); expect(process.hrtime.bigint() >= before).toBe(true); expect(process.memoryUsage().rss).toBeGreaterThan(0); expect(process.uptime()).toBeGreaterThan(0); });
test("ticks", async () => { const order: number[] = []; process.nextTick(() => order.push(1)); queueMicrotask(() => order.push(2)); setImmediate(() => order.push(3)); await Bun.sleep(2); expect(order).toHaveLength(3); });
