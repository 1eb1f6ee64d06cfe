import { expect, mock, test } from "bun:test";

const spawned: string[][] = [];

mock.module("node:child_process", () => ({
  spawn: (cmd: string, args: string[]) => {
    spawned.push([cmd, ...args]);
    return { on: (_: string, cb: (c: number) => void) => cb(0) };
  },
}));

test("opens a browser", async () => {
  const { openBrowser } = await import("../src/open");
  await openBrowser("http://localhost:3000");
  expect(spawned[0]).toContain("http://localhost:3000");
});
