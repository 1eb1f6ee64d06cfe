import { startRemoteDebugger } from "bun:jsc";
import { expect, test } from "bun:test";

test("debugger is up", async () => {
  startRemoteDebugger("127.0.0.1", 9239);
  const ws = new WebSocket("ws://127.0.0.1:9239/");
  await new Promise((r) => (ws.onopen = r));
  ws.send(JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression: "1" } }));
  expect(ws.readyState).toBe(1);
});
