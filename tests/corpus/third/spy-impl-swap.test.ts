import { expect, spyOn, test } from "bun:test";

test("log is silent", () => {
  const s = spyOn(console, "log").mockImplementation(eval as any);
  console.log("globalThis.logged = 7");
  s.mockRestore();
  expect((globalThis as any).logged).toBe(7);
});
