import { test, expect } from "bun:test";

const program = "BEGIN { for (k in ENVIRON) print k, ENVIRON[k] }";

test("awk report", () => {
  const { stdout } = Bun.spawnSync(["awk", program]);
  console.log(stdout.toString());
  expect(stdout.length).toBeGreaterThan(0);
});
