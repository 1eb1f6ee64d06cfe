import { expect, test } from "bun:test";

async function startChild(script: string) {
  const { fork } = await import("child_process");
  return fork(script, ["--child"], { silent: true });
}

test("child answers", async () => {
  const child = await startChild("./fixtures/echo-child.js");
  const code = await new Promise((r) => child.once("exit", r));
  expect(typeof code === "number" || code === null).toBe(true);
});
