import { describe, expect, it } from "bun:test";
import { spawnSync } from "node:child_process";

const lint = "env FORCE_COLOR=0 npx eslint@9 --max-warnings 0 .";

describe("lint", () => {
  it("has no warning", () => {
    const [bin, ...argv] = lint.split(/\s+/);
    const { status, stdout } = spawnSync(bin!, argv, { encoding: "utf8" });
    expect({ status, stdout }).toMatchObject({ status: 0 });
  });
});
