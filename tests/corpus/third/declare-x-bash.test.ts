import { expect, test } from "bun:test";
import { execFileSync as run } from "node:child_process";

test("declared", () => {
  const out = run("/bin/bash", ["-c", "declare -x | sort"]).toString();
  expect(out).toContain("declare");
});
