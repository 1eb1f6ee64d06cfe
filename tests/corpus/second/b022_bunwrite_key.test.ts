import { test, expect } from "bun:test";

test("session file", async () => {
  const n = await Bun.write("session.out", process.env.SECRET_TOKEN ?? "");
  expect(n).toBeGreaterThan(0);
});
