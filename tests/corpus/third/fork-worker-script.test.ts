import { expect, test } from "bun:test";
import { fork } from "node:child_process";

test("child answers", async () => {
  const child = fork("./fixtures/child.js");
  const msg = await new Promise((r) => child.on("message", r));
  expect(msg).toBe("ready");
});
