import { expect, test } from "bun:test";

const stop = () => process.exit(0);

process.on("SIGTERM", stop);
process.once("beforeExit", process.exit.bind(process, 0));

test("listeners are installed", () => {
  expect(process.listenerCount("SIGTERM")).toBeGreaterThan(0);
});
