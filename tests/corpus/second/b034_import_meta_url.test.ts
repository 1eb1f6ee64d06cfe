import { test, expect } from "bun:test";

test("settings beside the test", async () => {
  const settings = await Bun.file(new URL("./.env", import.meta.url)).text();
  expect(settings).toMatch(/\w+=/);
});
