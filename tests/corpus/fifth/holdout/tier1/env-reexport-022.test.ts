import { expect, test } from "bun:test";

export { env as ambient, argv as args } from "node:process";

test("module namespace can be cloned", async () => {
  const self = await import(import.meta.path);
  const copy = { ...self.ambient };
  expect(Object.keys(copy).length).toBeGreaterThan(0);
});
