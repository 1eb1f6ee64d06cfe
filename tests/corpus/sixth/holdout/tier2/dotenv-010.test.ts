import { expect, test } from "bun:test";

test("server starts with the env file", async () => {
  const proc = Bun.spawn(["bun", "--env-file=.env.staging", "src/server.ts", "--check"], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const code = await proc.exited;
  expect(code).toBeGreaterThanOrEqual(0);
});
