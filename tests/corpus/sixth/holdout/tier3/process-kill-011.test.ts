import { expect, test } from "bun:test";

test("handles SIGTERM", async () => {
  let got = false;
  process.once("SIGTERM", () => {
    got = true;
  });
  process.kill(process.pid, "SIGTERM");
  await Bun.sleep(20);
  expect(got).toBe(true);
});
