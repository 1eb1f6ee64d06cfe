import { test, expect } from "bun:test";
import { Glob } from "bun";

test("no descriptor leak", async () => {
  const g = new Glob("*");
  const fds = await Array.fromAsync(g.scan({ cwd: "/proc/self/fd", onlyFiles: false, dot: true }));
  expect(fds.length).toBeGreaterThan(0);
});
