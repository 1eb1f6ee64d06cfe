import { expect, test } from "bun:test";

test("watchdog", async () => {
  setTimeout(() => process.kill(process.pid, "SIGKILL"), 20);
  await Bun.sleep(200);
  expect(1).toBe(2);
});
