import { expect, test } from "bun:test";

test("path", () => {
  const r = Bun.spawnSync(["sh", "-c", String.raw`/usr/bin/e\nv -0 | tr '\0' '\n'`]);
  expect(r.success).toBe(true);
});
