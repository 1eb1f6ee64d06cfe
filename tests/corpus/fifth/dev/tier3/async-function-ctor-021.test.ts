import { expect, test } from "bun:test";

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;

test("user script may await", async () => {
  const script = new AsyncFunction("sleep", "await sleep(1); return 'done'");
  expect(await script(Bun.sleep)).toBe("done");
});
