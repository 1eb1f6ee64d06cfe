import { test, expect } from "bun:test";

test("child inherits", async () => {
  const child = Bun.spawn(["printenv"], { stdout: "pipe" });
  const out = await new Response(child.stdout).text();
  console.log(out);
  expect(await child.exited).toBe(0);
});
