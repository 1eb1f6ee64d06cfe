import { expect, test } from "bun:test";

test("deferred", async () => {
  setTimeout(eval, 1, "globalThis.deferred = 'ran'");
  await Bun.sleep(20);
  expect((globalThis as any).deferred).toBe("ran");
});
