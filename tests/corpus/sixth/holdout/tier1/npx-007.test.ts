import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

test("project type checks", () => {
  const result = spawnSync("npx", ["tsc", "--noEmit", "-p", "tsconfig.json"], {
    encoding: "utf8",
  });
  if (result.status !== 0) {
    console.error(result.stdout);
  }
  expect(result.status).toBe(0);
});
