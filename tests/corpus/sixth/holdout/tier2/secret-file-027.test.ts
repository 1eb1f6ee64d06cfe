import { describe, expect, it } from "bun:test";
import { $ } from "bun";

const file = ".env";

describe("shell helpers", () => {
  it("counts variables", async () => {
    const text = await $`cat ${file}`.nothrow().text();
    const direct = await $`grep -c = .env`.nothrow().quiet();
    expect(text.split("\n").length).toBeGreaterThan(0);
    expect(direct.exitCode).toBeGreaterThanOrEqual(0);
  });
});
