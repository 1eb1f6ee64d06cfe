import { expect, test } from "bun:test";
import { spawn } from "node:child_process";

function runCli(args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn("node", ["dist/cli.js", ...args], {
      env: process.env,
      stdio: "pipe",
    });
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

test("cli prints its version", async () => {
  expect(await runCli(["--version"])).toBe(0);
});
