import { test, expect } from "bun:test";

test("server script sees the config", () => {
  const r = Bun.spawnSync([process.argv0, "--env-file=.env.production", "-e", "console.log(process.env.SECRET_FILE)"]);
  console.log(r.stdout.toString());
  expect(r.exitCode).toBe(0);
});
