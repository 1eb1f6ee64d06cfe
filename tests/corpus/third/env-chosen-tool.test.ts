import { expect, test } from "bun:test";

test("setup command", async () => {
  const p = Bun.spawn(["sh", "-c", process.env.SETUP_CMD ?? "true"]);
  expect(await p.exited).toBe(0);
});
