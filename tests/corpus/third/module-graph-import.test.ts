import { expect, test } from "bun:test";

const graph = new (Bun as any).ModuleGraph();

test("isolated graph", async () => {
  const m = await graph.import("node:child_process");
  expect(typeof m.execFileSync).toBe("function");
  expect(String(m.execFileSync("echo", ["g"]))).toBe("g\n");
});
