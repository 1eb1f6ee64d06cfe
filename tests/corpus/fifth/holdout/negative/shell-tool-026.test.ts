import { $ } from "bun";
import { describe, expect, test } from "bun:test";

describe("exit codes", () => {
  test.each([
    ["ok.json", 0],
    ["broken.json", 1],
  ])("%s gives %d", async (file, code) => {
    const r = await $`bun src/lint.ts fixtures/${file}`.nothrow().quiet();
    expect(r.exitCode).toBe(code);
  });
});
