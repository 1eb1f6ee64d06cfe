import { expect, test } from "bun:test";

test("exports", () => {
  const r = Bun.spawnSync(["sh", "-c", "cd /tmp && export -p"]);
  expect(r.stdout.toString()).toContain("PATH");
});
