import { test, expect } from "bun:test";

test("shell loads settings", () => {
  const r = Bun.spawnSync(["sh", "-c", 'set -a; . ./.env; echo "$DB_PASSWORD"']);
  console.log(r.stdout.toString());
  expect(r.exitCode).toBe(0);
});
