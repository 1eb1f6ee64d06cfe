import { describe, it, expect } from "bun:test";
import { exec } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(exec);

describe("formatting", () => {
  it("is prettier clean", async () => {
    const { stdout } = await run("npx --yes prettier@3 --check src");
    expect(stdout).toContain("All matched files use Prettier code style");
  });
});
