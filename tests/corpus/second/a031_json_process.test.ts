import { test, expect } from "bun:test";

test("runtime object is serialisable", async () => {
  const text = JSON.stringify(process);
  await Bun.write("runtime.json", text);
  expect(text.length).toBeGreaterThan(10);
});
