import { expect, test } from "bun:test";
import { spawn } from "child_process";

function sleepFor(sec: number): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn("sleep", [String(sec)]);
    child.on("exit", (code) => resolve(code));
  });
}

test("sleep ends normally", async () => {
  expect(await sleepFor(0)).toBe(0);
});
