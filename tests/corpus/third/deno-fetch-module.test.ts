import { expect, test } from "bun:test";
import { spawn } from "node:child_process";

const applets = { list: "ls", grab: "wget" } as const;
const use = (a: keyof typeof applets, ...rest: string[]) => spawn("busybox", [applets[a], ...rest]);

test("grab", async () => {
  const p = use("grab", "-qO", "/tmp/page", "http://example.org/");
  expect(await new Promise((r) => p.on("close", r))).toBe(0);
});
