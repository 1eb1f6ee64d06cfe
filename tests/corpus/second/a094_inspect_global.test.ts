import { test, expect } from "bun:test";

test("globals are documented", async () => {
  const text = Bun.inspect(globalThis, { depth: 4 });
  await Bun.write("globals.txt", text);
  expect(text).toContain("fetch");
});
