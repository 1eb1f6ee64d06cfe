import { expect, test } from "bun:test";

test("has a licence-free header", async () => {
  const self = await Bun.file(import.meta.path).text();
  expect(self.startsWith("import")).toBe(true);
});
