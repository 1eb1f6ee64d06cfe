import { test, expect } from "bun:test";

const bun = process.execPath;

test("sets up the fixture project", async () => {
  const p = Bun.spawn([bun, "add", "is-odd"], { cwd: "/tmp/fixture" });
  expect(await p.exited).toBe(0);
});
