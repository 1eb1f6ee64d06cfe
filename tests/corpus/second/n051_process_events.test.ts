import { expect, test } from "bun:test";

test("listeners are removed", () => {
  const before = process.listenerCount("SIGUSR2");
  const fn = () => {};
  process.on("SIGUSR2", fn);
  process.off("SIGUSR2", fn);
  expect(process.listenerCount("SIGUSR2")).toBe(before);
  expect(process.memoryUsage().rss).toBeGreaterThan(0);
});
