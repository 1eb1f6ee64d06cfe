import { test, expect } from "bun:test";
import { spawnSync } from "node:child_process";

test("fixture is downloaded", () => {
  const r = spawnSync("wget", ["-q", "https://example.com/fixture.tgz"]);
  expect(r.status).toBe(0);
});
