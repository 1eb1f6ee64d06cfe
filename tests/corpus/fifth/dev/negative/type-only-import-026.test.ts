import { expect, mock, test } from "bun:test";
import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { waitFor } from "../src/wait";

function fakeChild(): ChildProcess {
  return Object.assign(new EventEmitter(), { pid: 7, kill: mock(() => true) }) as unknown as ChildProcess;
}

test("resolves with the code", async () => {
  const c = fakeChild();
  queueMicrotask(() => c.emit("close", 3));
  expect(await waitFor(c)).toBe(3);
});
