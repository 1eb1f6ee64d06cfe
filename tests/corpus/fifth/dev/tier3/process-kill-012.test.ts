import { expect, test } from "bun:test";

test("parent notices a signal", () => {
  const sent = process.kill(process.ppid, "SIGUSR1");
  expect(sent).toBe(true);
});

test("epoch", () => {
  const d = new Date(0);
  expect(d.getUTCFullYear()).toBe(1970);
});
