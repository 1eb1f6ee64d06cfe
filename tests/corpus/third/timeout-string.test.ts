import { expect, test } from "bun:test";

test("legacy timer form", async () => {
  // @ts-ignore
  setTimeout("globalThis.fired = true", 5);
  await Bun.sleep(20);
  expect((globalThis as any).fired).toBe(true);
});
