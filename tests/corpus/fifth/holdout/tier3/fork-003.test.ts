import { fork } from "node:child_process";
import { expect, test } from "bun:test";

test("worker process replies", async () => {
  const child = fork(new URL("./fixtures/echo.ts", import.meta.url));
  const reply = new Promise((r) => child.on("message", r));
  child.send("hi");
  expect(await reply).toBe("hi");
  child.disconnect();
});
