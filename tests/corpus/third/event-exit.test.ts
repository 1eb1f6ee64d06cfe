import { EventEmitter, once } from "node:events";
import { expect, test } from "bun:test";

class FakeChild extends EventEmitter {
  killed = false;
  kill(signal = "SIGTERM") {
    this.killed = true;
    this.emit("exit", null, signal);
    return true;
  }
}

test("waits for the exit event", async () => {
  const child = new FakeChild();
  setTimeout(() => child.kill("SIGINT"), 1);
  const [code, signal] = await once(child, "exit");
  expect(code).toBeNull();
  expect(signal).toBe("SIGINT");
  expect(child.killed).toBe(true);
});
