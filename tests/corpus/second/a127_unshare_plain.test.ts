import { test, expect } from "bun:test";
import { execSync } from "node:child_process";

test("own mount namespace", () => {
  expect(execSync("unshare --mount --map-root-user true").length).toBe(0);
});
