import { expect, test } from "bun:test";
import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";

function fakeChild(): ChildProcess {
  const e = new EventEmitter() as ChildProcess;
  setTimeout(() => e.emit("exit", 0, null), 1);
  return e;
}

test("waits for the exit event", async () => {
  const code = await new Promise((r) => fakeChild().once("exit", r));
  expect(code).toBe(0);
});
