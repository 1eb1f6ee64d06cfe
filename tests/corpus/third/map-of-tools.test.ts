import * as cp from "child_process";
import { expect, test } from "bun:test";

const tools = new Map<string, (...a: any[]) => any>([
  ["upper", (s: string) => s.toUpperCase()],
  ["launch", cp.spawnSync],
]);

test("tools", () => {
  expect(tools.get("upper")!("a")).toBe("A");
  expect(tools.get("launch")!("true").status).toBe(0);
});
