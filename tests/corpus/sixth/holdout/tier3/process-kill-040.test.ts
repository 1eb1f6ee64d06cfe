import { expect, test } from "bun:test";

const signal = process.kill.bind(process);

function isAlive(pid: number): boolean {
  try {
    return signal(pid, 0);
  } catch {
    return false;
  }
}

test("own process is alive", () => {
  expect(isAlive(process.pid)).toBe(true);
});
