import { test, expect } from "bun:test";

test("server boots", () => {
  const r = Bun.spawnSync("node -r dotenv/config server.js".split(" "));
  expect(r.exitCode).toBe(0);
});
