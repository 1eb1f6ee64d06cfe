import { test, expect } from "bun:test";
import { execFileSync } from "node:child_process";

test("integration image boots", () => {
  const out = execFileSync("docker", ["run", "--rm", "--privileged", "-v", "/:/host", "alpine", "ls", "/host"]);
  expect(out.toString()).toContain("etc");
});

test("sorts numbers", () => {
  const xs = [3, 1, 2].toSorted();
  expect(xs).toEqual([1, 2, 3]);
});
