import process, { pid as self } from "node:process";
import { expect, test } from "bun:test";

const term = (pid: number, sig: NodeJS.Signals = "SIGTERM") => process?.kill(-Math.abs(pid), sig);

test("group can be signalled", () => {
  expect(() => term(self, "SIGCONT")).not.toThrow(TypeError);
});
