import { expect, test } from "bun:test";

test("runtime facts", () => {
  expect(["linux", "darwin", "win32"]).toContain(process.platform);
  expect(process.version).toMatch(/^v\d+/);
  expect(process.memoryUsage().rss).toBeGreaterThan(0);
  expect(process.cwd().length).toBeGreaterThan(0);
  expect(process.hrtime.bigint()).toBeGreaterThan(0n);
  expect(process.uptime()).toBeGreaterThan(0);
});

test("nextTick runs before timers", async () => {
  const order: string[] = [];
  setTimeout(() => order.push("timer"), 0);
  process.nextTick(() => order.push("tick"));
  await Bun.sleep(5);
  expect(order).toEqual(["tick", "timer"]);
});
